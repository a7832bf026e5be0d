package observe

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestPlans expects two plans of a statement, of its slowest example and of a typical
// one, each made in the schema that the statement was sent to.
func TestPlans(t *testing.T) {
	srv, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	db, err := srv.Open(t.Context(), "app")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// the same name in two schemas: 500 rows of one kind and one of another, or none
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE t (id INT PRIMARY KEY, kind INT NOT NULL, KEY kind (kind));
		CREATE DATABASE shop; CREATE TABLE shop.t LIKE t; INSERT INTO shop.t SELECT seq, seq > 1 FROM seq_1_to_501; ANALYZE TABLE shop.t`); err != nil {
		t.Fatal(err)
	}
	s, err := facts.Connect(t.Context(), db, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	row := func(digest, schema, worst, typical string) iikanji.Row {
		return iikanji.Row{Example: iikanji.Sighting{Text: worst}, Query: &iikanji.SQLRow{Digest: digest, DB: schema, Typical: iikanji.Sighting{Text: typical}}}
	}
	many, few := "SELECT id FROM t WHERE kind = 1", "SELECT id FROM t WHERE kind = 0"
	got := map[string]float64{}
	for _, f := range queryPlans(t.Context(), s, "database", "app", []iikanji.Profile{{Source: iikanji.Slow, Rows: []iikanji.Row{
		row("both", "shop", many, few), row("alike", "shop", many, many), row("gone", "nowhere", many, few), row("ours", "", many, ""), row("writes", "app", "INSERT INTO t VALUES (1, 1)", "")}}}, true) {
		var p catalog.QueryPlan
		if err := json.Unmarshal([]byte(fact.Text(f)), &p); err != nil || !p.Ran || len(p.Steps) != 1 {
			t.Fatalf("%s: %+v, %v", f.Key, p, err)
		}
		if strings.HasSuffix(f.Key, fact.TypicalSuffix) && p.SQL != few {
			t.Errorf("%s is a query plan of %s", f.Key, p.SQL)
		}
		got[f.Key] = p.Steps[0].Rows
	}
	want := map[string]float64{"both": 500, "both" + fact.TypicalSuffix: 1, "alike": 500, "ours": 0}
	for key, rows := range want {
		if n, ok := got[key]; !ok || n != rows {
			t.Errorf("query plan of %s met %v rows (%v), want %v", key, n, ok, rows)
		}
	}
	if len(got) != len(want) {
		t.Errorf("plans %v, want %v", got, want)
	}
}
