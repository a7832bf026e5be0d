package rewrite

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestServed: what another program of the module does, or a package of tests, hinders no
// query cache; what a package does that the program imports does.
func TestServed(t *testing.T) {
	tier.Slow(t)
	const (
		mainSource = "package main\n\nimport _ \"example.org/app/db\"\n\nfunc main() {}\n"
		pool       = "package db\n\nimport \"database/sql\"\n\nfunc Open() (*sql.DB, error) { return sql.Open(\"mysql\", \"dsn\") }\n"
		worker     = "\n\nimport \"os/exec\"\n\nfunc Start() error { return exec.Command(\"worker\").Start() }\n"
	)
	cases := map[string]struct {
		files   map[string]string
		hinders bool
	}{
		"another program": {map[string]string{"cmd/web/main.go": mainSource, "db/db.go": pool, "cmd/tool/main.go": "package main" + worker + "\nfunc main() {}\n"}, false},
		"for tests alone": {map[string]string{"cmd/web/main.go": mainSource, "db/db.go": pool, "testing/run.go": "package testing" + worker}, false},
		"imported":        {map[string]string{"cmd/web/main.go": strings.Replace(mainSource, "\n\nfunc", "\nimport _ \"example.org/app/work\"\n\nfunc", 1), "db/db.go": pool, "work/run.go": "package work" + worker}, true},
		"no program":      {map[string]string{"db/db.go": pool, "work/run.go": "package work" + worker}, true},
	}
	sources := map[string]map[string]string{}
	for name, c := range cases {
		sources[name] = c.files
	}
	for name, app := range loadCases(t, sources, nil) {
		res, err := runOn(app.dir, app.pkgs, Facts{}, []*Lever{&queryCache})
		if err != nil || len(res.Hits) != 1 || !strings.HasSuffix(res.Hits[0].File, "db.go") {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
		hinders := cases[name].hinders
		if got := strings.Contains(res.Hits[0].Reason.Text, "a program is started"); got != hinders {
			t.Errorf("%s: %s", name, res.Hits[0].Reason.Text)
		}
		if name == "no program" {
			continue
		}
		use, err := Cache(t.Context(), app.dir, app.path+"/sqlcache", "cmd/web")
		if err != nil || (len(use.Blockers) > 0) != hinders || use.Opens != 1 {
			t.Errorf("%s: %q, %d pools, %v", name, use.Blockers, use.Opens, err)
		}
	}
}
