package observe

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A second host has separate files. Its processes are those of this machine, because a
// test has only one kernel.
type second struct{ *host.Fake }

func (second) ProcFolder() string { return "/proc" }

func (s second) Read(path string) ([]byte, error) {
	if strings.HasPrefix(path, "/proc/") {
		return os.ReadFile(path)
	}
	return s.Fake.Read(path)
}

func (s second) ReadDir(path string) ([]fs.DirEntry, error) {
	if strings.HasPrefix(path, "/proc/") {
		return os.ReadDir(path)
	}
	return s.Fake.ReadDir(path)
}

// TestObserveTwoHostsUnderLoad observes a web server and an app on another host: their logs are
// read there, their processes are counted there, and their facts have its name.
func TestObserveTwoHostsUnderLoad(t *testing.T) {
	tier.Slow(t)
	far := second{&host.Fake{Root: t.TempDir(), Host: "far"}}
	write := func(name, text string) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(far.Root, name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	line := `10.0.0.1 - - [22/Nov/2026:06:00:00 +0000] "GET /far HTTP/1.1" 200 5 "-" "-"` + "\n"
	write("access.log", strings.ReplaceAll(line, "far", "before"))
	write("app.log", "DEBUG before\n")
	me := []int{os.Getpid()}
	clock := &sampledClock{}
	w := Watched{Now: clock.now, Groups: func() map[string][]int { return map[string][]int{"edge": me, "near": me} },
		Hosts: func(name string) host.Host { return map[string]host.Host{"far": far}[name] },
		Target: iikanji.Target{Services: []iikanji.Service{
			{Name: "edge", Host: "far", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Logs: []iikanji.Log{{Kind: "access", Path: "/access.log"}}},
			{Name: "near", Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
			{Name: "worker", Host: "far", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Logs: []iikanji.Log{{Kind: "output", Path: "/app.log"}}}}}}
	o, err := Observe(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	o.Phase(scenario.Load, true)
	clock.begin()
	write("access.log", strings.Repeat(line, 40))
	write("app.log", "DEBUG within\n")
	took := clock.wait(t, 3) // of two hosts, which are sampled in turn
	o.Phase(scenario.Load, false)
	run := &iikanji.Run{Steps: []iikanji.StepStat{{Step: "GET /far", Count: 40}}, Took: took}
	ob, err := o.Finish(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range ob.Sensors {
		names = append(names, s.Name)
		if !s.Green && s.Source != iikanji.Slow {
			t.Errorf("%s is red: %s", s.Name, s.Why())
		}
	}
	if want := []string{"access log", "slow log", "host", "host of far", "error logs"}; !slices.Equal(names, want) {
		t.Errorf("sensors %q, want %q", names, want)
	}
	testRowsByHost(t, ob)
	testBlindHost(t, ob)
	where := map[string]string{}
	for _, f := range ob.Seen {
		where[f.Target+" "+f.Topic] = f.Host
	}
	for key, want := range map[string]string{"edge volume": "far", "edge series": "far", "edge limit": "far", "worker volume": "far", "near limit": "", "local sysctl": "", "far sysctl": "far"} {
		if got, ok := where[key]; !ok || got != want {
			t.Errorf("%s is of host %q (%v), want %q", key, got, ok, want)
		}
	}
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if ob.Run.ID, _, err = h.NewRun(); err != nil {
		t.Fatal(err)
	}
	if err := Keep(h, ob, ob.Seen); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{hostFile, "host-far.tsv", usageFile, "host-far.json", accessFile} {
		if b, err := h.ReadFile(ob.Run.ID, name); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if again, _, err := Recall(h, ob.Run.ID); err != nil || len(again.Profiles) != len(ob.Profiles) {
		t.Errorf("%v, %v", again, err)
	}
}

// testBlindHost checks that a red sensor of this machine leaves the other host's
// profile to the diagnosis.
func testBlindHost(t *testing.T, ob *Observation) {
	t.Helper()
	blind := *ob
	blind.Sensors = slices.Clone(ob.Sensors)
	i := slices.IndexFunc(blind.Sensors, func(s Sensor) bool { return s.Source == iikanji.Host && s.Target == "" })
	blind.Sensors[i].Green, blind.Sensors[i].Error = false, "no samples"
	if fs, err := FindingsOf(&blind, nil); err != nil || !slices.ContainsFunc(fs, func(f iikanji.Finding) bool { return f.Where == "host of local" }) {
		t.Errorf("%+v, %v", fs, err)
	}
}

// testRowsByHost checks that each service is in the profile of its own host only.
func testRowsByHost(t *testing.T, ob *Observation) {
	t.Helper()
	rows := map[string][]string{}
	for _, p := range ob.Profiles {
		for _, r := range p.Rows {
			rows[p.Source.String()+" "+p.Target] = append(rows[p.Source.String()+" "+p.Target], r.Key)
		}
	}
	if got := rows["access edge"]; !slices.Equal(got, []string{"GET /far"}) {
		t.Errorf("access log %q", got)
	}
	if got := rows["errors worker"]; !slices.Equal(got, []string{"DEBUG within"}) {
		t.Errorf("output of worker %q", got)
	}
	for host, want := range map[string][2]string{"host local": {"near", "edge"}, "host far": {"edge", "near"}} {
		if got := rows[host]; !slices.Contains(got, want[0]) || slices.Contains(got, want[1]) {
			t.Errorf("%s has the rows %q, want %s and not %s", host, got, want[0], want[1])
		}
	}
}
