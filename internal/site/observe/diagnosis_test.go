package observe_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// scanned is an observation in which one statement scans a table without an index.
func scanned(t *testing.T) (*observe.Observation, []iikanji.Fact) {
	t.Helper()
	pack := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const fingerprint = "select * from c where uuid = ? order by ts desc limit ?"
	sql := "SELECT * FROM c WHERE uuid = 'a' ORDER BY ts DESC LIMIT 1"
	table := catalog.Table{Schema: "s", Name: "c", Engine: "InnoDB",
		Columns: []catalog.Column{{Name: "id", Type: "bigint(20)", Width: 8}, {Name: "uuid", Type: "char(36)", Width: 144}, {Name: "ts", Type: "datetime", Width: 5}},
		Indexes: []catalog.Index{{Name: "PRIMARY", Kind: "btree", Unique: true, Primary: true, Parts: []catalog.IndexPart{{Column: "id"}}}}}
	known := []iikanji.Fact{
		{Topic: string(fact.TopicTable), Key: "s.c", Value: pack(table)},
		{Topic: string(fact.TopicSize), Key: "s.c", Value: pack(catalog.TableSize{Rows: 10000, Data: 1 << 20, Distinct: map[string]float64{"id": 10000, "uuid": 100, "ts": 9000}})},
		{Topic: string(fact.TopicPlan), Key: "00000000000000aa", Value: pack(catalog.QueryPlan{SQL: sql, Steps: []catalog.QueryStep{{Table: "c", Access: "ALL", Rows: 10000}}})},
	}
	slow := iikanji.Profile{Version: 1, Source: iikanji.Slow, Rows: []iikanji.Row{{Key: fingerprint, Count: 1000, Total: 5 * time.Second, Example: iikanji.Sighting{Text: sql},
		Query: &iikanji.SQLRow{Digest: "00000000000000aa", Fingerprint: fingerprint, DB: "s", Examined: 10_000_000, Sent: 1000, FullScan: 1000}}}}
	run := &iikanji.Run{ID: 1, Scenario: "x", Took: 10 * time.Second, Place: iikanji.Placement{Cores: 2}, Steps: []iikanji.StepStat{{Count: 1000}}}
	return &observe.Observation{Run: run, Profiles: []iikanji.Profile{slow}, Sensors: []observe.Sensor{{Source: iikanji.Slow, Name: "slow log", Green: true}}}, known
}

func codes(fs []iikanji.Finding) []iikanji.Code { return observe.Codes(fs) }

// TestOrient finds the missing index while the sensor is green. If the sensor is red,
// the finding is held back and BEN103 has the reason.
func TestOrient(t *testing.T) {
	ob, known := scanned(t)
	d, err := diagnose.New(ob, known)
	if err != nil {
		t.Fatal(err)
	}
	if c := codes(d.Findings); len(c) != 1 || c[0] != "DB101" {
		t.Errorf("green: %v", c)
	}
	if d.Statements != 5 || d.CPU != 20 || d.Of(d.Findings[0]) != 5 || d.Of(iikanji.Finding{Code: "APP101"}) != 20 || len(d.QueryPlans) != 1 {
		t.Errorf("statements %v, CPU %v, %d plans", d.Statements, d.CPU, len(d.QueryPlans))
	}
	ob.Sensors[0] = observe.Sensor{Source: iikanji.Slow, Name: "slow log", Error: "it is empty"}
	if d, err = diagnose.New(ob, known); err != nil {
		t.Fatal(err)
	}
	if len(d.Findings) != 1 || d.Findings[0].Code != "BEN103" || len(d.Findings[0].Evidence) != 1 || d.Findings[0].Evidence[0].Text != "it is empty" || d.Statements != 0 {
		t.Errorf("red: %+v", d.Findings)
	}
}

// TestOrientPerService holds back the statements of one database and keeps those of
// the other, with the plan of each.
func TestOrientPerService(t *testing.T) {
	ob, facts := scanned(t)
	ob.Target.Services = []iikanji.Service{{Name: "one", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}, {Name: "two", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}}
	ob.Profiles = append(ob.Profiles, ob.Profiles[0])
	ob.Sensors = nil
	var known []iikanji.Fact
	for i, name := range []string{"one", "two"} {
		ob.Profiles[i].Target = name
		ob.Sensors = append(ob.Sensors, observe.Sensor{Source: iikanji.Slow, Target: name, Green: true})
		for _, f := range facts {
			f.Target = name
			known = append(known, f)
		}
	}
	both, err := diagnose.New(ob, known)
	if err != nil || both.Statements != 10 || len(both.Findings) != 2 {
		t.Fatalf("%+v, %v", both, err)
	}
	for _, name := range []string{"one", "two"} {
		key := diagnose.QueryPlanKey{Service: name, Schema: "s", Digest: "00000000000000aa"}
		text, err := key.MarshalText()
		var again diagnose.QueryPlanKey
		if err != nil || again.UnmarshalText(text) != nil || again != key {
			t.Errorf("%v is %s, %v", key, text, again)
		}
		if _, ok := both.QueryPlans[key]; !ok {
			t.Errorf("no plan %v in %v", key, both.QueryPlans)
		}
		if _, ok := both.QueryPlansByDigest()["00000000000000aa of "+name]; !ok {
			t.Errorf("plans by digest: %v", both.QueryPlansByDigest())
		}
	}
	if err := new(diagnose.QueryPlanKey).UnmarshalText([]byte("a/b")); err == nil {
		t.Error("a key of two parts was read")
	}
	ob.Sensors[0] = observe.Sensor{Source: iikanji.Slow, Target: "one", Error: "it is empty"}
	d, err := diagnose.New(ob, known)
	if err != nil || d.Statements != 5 || len(d.Findings) != 2 || d.Findings[0].Code != "BEN103" || d.Findings[0].Evidence[0].Text != "it is empty" ||
		d.Findings[1].Code != "DB101" || d.Findings[1].Remedies[0].Target != "two" {
		t.Errorf("one is red: %+v, %v", d, err)
	}
	ob.Sensors[1] = observe.Sensor{Source: iikanji.Slow, Target: "two", Error: "it is short"}
	if d, err = diagnose.New(ob, known); err != nil || d.Statements != 0 || len(d.Findings) != 1 || d.Findings[0].Where != "slow" || d.Findings[0].Evidence[0].Text != "it is empty; it is short" {
		t.Errorf("both are red: %+v, %v", d, err)
	}
}

func mustOrient(t *testing.T, ob *observe.Observation, known []iikanji.Fact) []iikanji.Finding {
	t.Helper()
	d, err := diagnose.New(ob, known)
	if err != nil {
		t.Fatal(err)
	}
	return d.Findings
}

// TestKeep saves a diagnosed run and derives the same diagnosis from the saved files.
func TestKeep(t *testing.T) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ob, known := scanned(t)
	if ob.Run.ID, _, err = h.NewRun(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "observed-slow.log")
	if err := os.WriteFile(log, []byte("SELECT 1;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	row := &ob.Profiles[0].Rows[0]
	observe.SetSlowLog(ob, "database", log)
	row.Example.File, row.Example.Line, row.Query.Typical.File = log, 1, log
	ob.Profiles = append(ob.Profiles,
		*observe.HostProfile([]hoststat.Sample{{At: time.Unix(1, 0), Over: time.Second, Cores: 2, Services: []hoststat.ServiceSample{{Name: "app", FDs: 95, FDLimit: 100}}}}),
		iikanji.Profile{Version: 1, Source: iikanji.Errors, Target: "nginx", Rows: []iikanji.Row{{Count: 3, Log: &iikanji.LogRow{Kind: "connections-exhausted"}}}},
		iikanji.Profile{Version: 1, Source: iikanji.Errors, Target: "app", Rows: []iikanji.Row{{Count: 1, Log: &iikanji.LogRow{Kind: "panic"}}}})
	ob.Host = []hoststat.Sample{{At: time.Unix(1, 0), User: 1.5, Services: []hoststat.ServiceSample{{Name: "app", User: 1}}}}
	if err := observe.Keep(h, ob, known); err != nil {
		t.Fatal(err)
	}
	again, facts, err := observe.Recall(h, ob.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if c := codes(mustOrient(t, again, facts)); !slices.Contains(c, "WEB108") || !slices.Contains(c, "OS101") || len(again.Profiles) != 4 {
		t.Errorf("%d profiles, findings %v", len(again.Profiles), c)
	}
	kept := again.Profiles[0].Rows[0].Example.File
	if in, err := lines.Open(kept, nil); err != nil || in.Compression() != "gzip" || kept != again.Profiles[0].Rows[0].Query.Typical.File {
		t.Errorf("the log is quoted as %s: %v", kept, err)
	} else {
		in.Close()
	}
	want, err1 := diagnose.New(ob, known)
	got, err2 := diagnose.New(again, facts)
	if err1 != nil || err2 != nil || !reflect.DeepEqual(want.Findings, got.Findings) || !reflect.DeepEqual(want.Sensors, got.Sensors) {
		t.Errorf("%v %v\n%+v\n%+v", err1, err2, want.Findings, got.Findings)
	}
	if b, err := h.ReadFile(ob.Run.ID, observe.HostFile); err != nil || slices.Index(b, 'h') < 0 || len(hoststat.TSV(nil)) >= len(b) {
		t.Errorf("host.tsv: %v", err)
	}
	if _, _, err := observe.Recall(h, 99); err == nil {
		t.Error("a run that is not there was recalled")
	}
}

// TestKeepTarget checks that the findings of a saved run have the names of its
// services, also after it was recalled. A run saved without a target has the
// default names.
func TestKeepTarget(t *testing.T) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, c := range []struct {
		services []iikanji.Service
		want     string
	}{
		{[]iikanji.Service{{Name: "books", Role: iikanji.RoleApp}, {Name: "shelf-db", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}}, "shelf-db"},
		{nil, iikanji.RoleDatabase.String()},
	} {
		ob, known := scanned(t)
		if ob.Run.ID, _, err = h.NewRun(); err != nil {
			t.Fatal(err)
		}
		ob.Target.Services = c.services
		if err := observe.Keep(h, ob, known); err != nil {
			t.Fatal(err)
		}
		again, facts, err := observe.Recall(h, ob.Run.ID)
		if err != nil {
			t.Fatal(err)
		}
		fs := mustOrient(t, again, facts)
		if len(fs) != 1 || len(fs[0].Remedies) != 1 || fs[0].Remedies[0].Target != c.want || !reflect.DeepEqual(again.Target, ob.Target) {
			t.Errorf("want a remedy for %s: %+v; target %+v", c.want, fs, again.Target)
		}
	}
}

// The tests inside of package observe make findings of what they observed; package
// diagnose imports observe, so that they cannot import it.
func init() {
	observe.FindingsOf = func(ob *observe.Observation, known []iikanji.Fact) ([]iikanji.Finding, error) {
		d, err := diagnose.New(ob, known)
		if err != nil {
			return nil, err
		}
		return d.Findings, nil
	}
}
