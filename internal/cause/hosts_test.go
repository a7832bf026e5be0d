package cause_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// hostOf is the Host profile of a machine with 2 cores that took 10 s.
func hostOf(name string, m iikanji.MachineRow, services ...string) iikanji.Profile {
	m.Cores, m.Wall = 2, 10*time.Second
	p := iikanji.Profile{Source: iikanji.Host, Target: name, Rows: []iikanji.Row{{Key: "host", Host: &iikanji.HostRow{Machine: &m}}}}
	for _, s := range services {
		p.Rows = append(p.Rows, iikanji.Row{Key: s, Host: &iikanji.HostRow{PeakRSS: 1 << 20, Read: 1}})
	}
	return p
}

func findingsBy(t *testing.T, in cause.Input) map[string]iikanji.Finding {
	t.Helper()
	fs, err := findAll(in)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]iikanji.Finding{}
	for _, f := range fs {
		out[string(f.Code)+" "+f.Where] = f
	}
	return out
}

// TestPerHost finds causes of two machines apart: each has its own counters, its
// own services and its own remedies.
func TestPerHost(t *testing.T) {
	in := cause.Input{Run: &iikanji.Run{Took: 10 * time.Second, Place: iikanji.Placement{Cores: 2}},
		Target: iikanji.Target{Services: []iikanji.Service{{Name: "shop", Role: iikanji.RoleApp}, {Name: "store", Role: iikanji.RoleDatabase, Host: "far"}}},
		Facts: []iikanji.Fact{{Target: "local", Topic: string(fact.TopicSysctl), Key: "net.core.somaxconn", Value: "111"},
			{Target: "far", Host: "far", Topic: string(fact.TopicSysctl), Key: "net.core.somaxconn", Value: "222"}},
		Profiles: []iikanji.Profile{
			hostOf("local", iikanji.MachineRow{Steal: 3 * time.Second, ListenOverflows: 9}, "shop"),
			hostOf("far", iikanji.MachineRow{SwapIn: 64 << 20, DiskBusy: 1, IOWait: 8 * time.Second}, "store"),
		}}
	fs := findingsBy(t, in)
	for _, want := range []string{"OS104 steal on local", "OS102 host local", "OS103 host far", "OS107 host far"} {
		if _, ok := fs[want]; !ok {
			t.Errorf("no finding %q in %v", want, fs)
		}
	}
	if len(fs) != 4 {
		t.Errorf("%d findings: %v", len(fs), fs)
	}
	swap := fs["OS103 host far"]
	text := ""
	for _, e := range swap.Evidence {
		text += e.Text + "\n"
	}
	if !strings.Contains(text, "store: ") || strings.Contains(text, "shop: ") || swap.Remedies[1].Target != "host:far" {
		t.Errorf("%+v", swap)
	}
	queue := fs["OS102 host local"]
	if i := slices.IndexFunc(queue.Evidence, func(e iikanji.Evidence) bool { return e.Source == "sysctl" }); i < 0 || !strings.Contains(queue.Evidence[i].Text, "111") || queue.Remedies[0].Target != "host" {
		t.Errorf("%+v", queue)
	}
	if b := in.Binding(); b.Resource != "disk" || b.Who != "store" {
		t.Errorf("the limit is %+v", b)
	}

	in.BlindAt = []cause.Blindness{{Source: iikanji.Host, Target: "far", Why: "no samples"}}
	fs = findingsBy(t, in)
	if _, ok := fs["OS103 host far"]; ok || fs["BEN103 host of far"].Evidence[0].Text != "no samples" {
		t.Errorf("with a blind sensor on far: %v", fs)
	}
	if _, ok := fs["OS104 steal"]; !ok {
		t.Errorf("the other host was dropped: %v", fs)
	}
	// One machine: nothing is named.
	in.BlindAt, in.Profiles = nil, in.Profiles[:1]
	if fs = findingsBy(t, in); len(fs) != 2 || fs["OS104 steal"].Code == "" || fs["OS102 host"].Code == "" {
		t.Errorf("one host: %v", fs)
	}
}

// TestBlindAt drops the statements of one database and keeps those of the other.
func TestBlindAt(t *testing.T) {
	rows := func() []iikanji.Row {
		return readDigests(t, "900 20 54000000 900 | SELECT id FROM t ORDER BY RAND() LIMIT 1")
	}
	in := cause.Input{
		Target:   iikanji.Target{Services: []iikanji.Service{{Name: "one", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}, {Name: "two", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}}},
		Profiles: []iikanji.Profile{{Source: iikanji.Slow, Target: "one", Rows: rows()}, {Source: iikanji.Slow, Target: "two", Rows: rows()}},
		BlindAt:  []cause.Blindness{{Source: iikanji.Slow, Target: "one"}},
	}
	fs, err := findAll(in)
	if err != nil || len(fs) != 2 || fs[0].Code != "BEN103" || fs[0].Where != "slow of one" || fs[0].Evidence != nil {
		t.Fatalf("%+v, %v", fs, err)
	}
	if fs[1].Code != "DB122" || !strings.HasSuffix(fs[1].Where, " at two") || !strings.HasSuffix(fs[1].Evidence[0].Source, " of two") {
		t.Errorf("%+v", fs[1])
	}
}
