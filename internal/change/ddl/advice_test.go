package ddl

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/all"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestAdviceIsPlanned: every remedy that diagnose returns for the cases of its
// own index tests can be planned, on a real server with the case's data, and
// into a file that creates the case's tables.
func TestAdviceIsPlanned(t *testing.T) {
	tier.Slow(t)
	files, err := filepath.Glob("../../cause/database/index/testdata/index/*.txt")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	server, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	acts := map[string]int{}
	for _, file := range files {
		parts := map[string]string{}
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			parts[f.Name] = string(f.Data)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			db, err := server.Open(t.Context(), "suite")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), parts["schema.sql"]+parts["data.sql"]); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "schema.sql"), []byte(parts["schema.sql"]), 0o644); err != nil {
				t.Fatal(err)
			}
			site := &change.Site{Roots: []string{dir}, Services: map[string]change.Service{"database": {Running: changetest.Running{Pool: db}, Loads: []string{dir}}}}
			for _, r := range advised(t, db, parts["query.sql"], parts["expect"]) {
				acts[r.Args["act"]+" "+r.Args["index"]]++
				for _, r := range []iikanji.Remedy{r, change.IntoSchemaFile(r)} {
					if _, err := change.Plan(t.Context(), site, r); err != nil && !errors.Is(err, change.ErrNothing) {
						t.Errorf("%s %v: %v", r.Says, r.Args, err)
					}
				}
			}
		})
	}
	t.Logf("planned %v", acts)
	if acts["add index btree"] < 50 || acts["add index spatial"] == 0 || acts["drop index "] == 0 {
		t.Errorf("planned only %v", acts)
	}
}

var (
	asked  = regexp.MustCompile(`(?m)^(?:-- x([0-9]+)\n)?([A-Z].*);?$`)
	writes = regexp.MustCompile(`writes=(\w+) ([0-9]+)`)
)

// advised returns the remedies of the findings of a run with these statements.
func advised(t *testing.T, db *sql.DB, queries, expect string) []iikanji.Remedy {
	t.Helper()
	profile := iikanji.Profile{Source: iikanji.Slow}
	add := func(sql string, count int64, total time.Duration) {
		profile.Rows = append(profile.Rows, iikanji.Row{Count: count, Total: total, Example: iikanji.Sighting{Text: sql},
			Query: &iikanji.SQLRow{Digest: fmt.Sprintf("%016x", len(profile.Rows)), DB: "suite", Fingerprint: sql}})
	}
	for _, m := range asked.FindAllStringSubmatch(queries, -1) {
		add(strings.TrimSuffix(m[2], ";"), 1000, 100*time.Second)
	}
	if m := writes.FindStringSubmatch(expect); m != nil {
		add("INSERT INTO "+m[1]+" VALUES ()", 1_000_000, time.Second)
	}
	server, err := facts.Connect(t.Context(), db, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	fs, tables, err := server.All(t.Context(), "database", "suite")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := index.ReadSchema(fs)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range schema.Questions(index.WorkloadOf([]iikanji.Profile{profile})) {
		i := slices.IndexFunc(tables, func(t facts.SizedTable) bool { return t.Name == q.Table })
		if err := server.Distinct(t.Context(), &tables[i], q.Columns); err != nil {
			t.Fatal(err)
		}
		shares, err := server.Selectivity(t.Context(), &tables[i], q.Predicates)
		if err != nil {
			t.Fatal(err)
		}
		fs = append(append(fs, facts.TableFacts("database", tables[i])...), facts.SelectivityFacts("database", tables[i], shares)...)
	}
	findings, err := cause.Find(cause.Input{Profiles: []iikanji.Profile{profile}, Facts: fs}, all.Rules())
	if err != nil {
		t.Fatal(err)
	}
	var rs []iikanji.Remedy
	for _, f := range findings {
		for _, r := range f.Remedies {
			if r.Kind == "ddl" {
				rs = append(rs, r)
			}
		}
	}
	return rs
}
