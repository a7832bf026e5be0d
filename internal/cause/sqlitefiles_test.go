package cause_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// filesInput is a run of an app with SQLite files, and of another app without them.
func filesInput(places ...iikanji.Fact) cause.Input {
	in := leverInput(places...)
	in.Target.Services = append(in.Target.Services, iikanji.Service{Name: "login", Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
		iikanji.Service{Name: "tenants", Role: iikanji.RoleDatabase, Engine: iikanji.EngineSQLite})
	row := func(digest, sql string, count int64, took time.Duration) iikanji.Row {
		return iikanji.Row{Key: sql, Count: count, Total: took, Example: iikanji.Sighting{Text: sql}, Query: &iikanji.SQLRow{Digest: digest, Fingerprint: sql, Affected: count}}
	}
	in.Profiles = append(in.Profiles, iikanji.Profile{Source: iikanji.Slow, Target: "tenants", Rows: []iikanji.Row{
		row("write", "insert into score (id) values (?)", 4000, 60*time.Second), row("read", "select * from player where id = ?", 1000, 40*time.Second)}})
	in.Facts = append(in.Facts, iikanji.Fact{Target: "tenants", Topic: string(fact.TopicDialect), Value: `{"Product":"sqlite","Major":3,"Minor":45}`})
	return in
}

// TestSharedStatement: a statement that two functions send is divided between them by
// the requests that reach each. No place is charged with more than all statements took.
func TestSharedStatement(t *testing.T) {
	shared := fact.CodePlace{Digests: []string{"read"}, Variants: []string{"rewrite"}}
	in := filesInput(codePlace("APP205", "list", shared), codePlace("APP205", "drop", shared))
	got := levers(t, in)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	gain := map[string]float64{}
	for _, f := range got {
		gain[f.Where] = f.Gain.Hi
	}
	few, many := gain["main.go:7 list at app"], gain["main.go:7 drop at app"] // 1,000 and 9,000 requests
	if few == 0 || math.Abs(many/few-9) > 0.2 {
		t.Errorf("gains %v, want 1 to 9", gain)
	}
	alone := levers(t, filesInput(codePlace("APP205", "list", shared)))
	if len(alone) != 1 || math.Abs(alone[0].Gain.Hi/(few+many)-1) > 0.02 {
		t.Errorf("both have %.2f s, one alone has %+v", few+many, alone)
	}
	if got[0].Of != iikanji.OfStatements {
		t.Errorf("the seconds of %s are not those of statements", got[0].Code)
	}
}

// TestFileStatementsAsCPU: where the CPU is the limit, the time of statements to SQLite
// files is scaled to the CPU time of the apps, in which they run.
func TestFileStatementsAsCPU(t *testing.T) {
	in := filesInput(codePlace("APP205", "list", fact.CodePlace{Digests: []string{"read"}, Variants: []string{"rewrite"}}))
	in.Run.Usage = []iikanji.Usage{{Who: "app", User: 14 * time.Second, Share: 0.7}, {Who: "database", User: 5 * time.Second, Share: 0.25}}
	if b := in.Binding(); b.Resource != "cpu" {
		t.Fatalf("the limit is %+v", b)
	}
	got := levers(t, in)
	if len(got) != 1 || got[0].Gain.Hi > 14 || got[0].Gain.Hi < 1 {
		t.Errorf("%+v, want at most the 14 s of the app", got)
	}
	if names := in.StatementServices(); !slices.Equal(names, []string{"database", "app", "login"}) {
		t.Errorf("statements are executed by %v", names)
	}
}

// TestNotYet: a place whose statements the run has no execution of is a finding without
// a gain if the requests that reach it take a large part of the run.
func TestNotYet(t *testing.T) {
	place := codePlace("APP204", "list", fact.CodePlace{Statements: []string{"INSERT …"}, Digests: []string{"later"}, Variants: []string{"rewrite"}})
	for count, want := range map[int64]int{1000: 0, 3: 1} { // in 9 s
		in := filesInput(place)
		for i, p := range in.Profiles {
			if p.Source == iikanji.Access {
				in.Profiles[i].Rows[0].Count = count
			}
		}
		got := levers(t, in)
		if len(got) != want || want == 1 && got[0].Gain.Hi != 0 {
			t.Errorf("%d requests in 9 s: %+v", count, got)
		}
	}
}
