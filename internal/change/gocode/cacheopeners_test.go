package gocode

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// openersApp are the files of the app that opens its database in every form.
func openersApp(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, name)
		files[strings.TrimSuffix(filepath.ToSlash(rel), ".txt")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// openerLine is what the app prints about one form.
var openerLine = regexp.MustCompile(`(?m)^(.*): (.*) after (\d+) queries$`)

// TestCacheOpeners: the query cache reaches the database in every form in which real
// libraries open it. With it, two of four reads of a form come from memory, and all give
// what they gave before.
func TestCacheOpeners(t *testing.T) {
	tier.Slow(t)
	db, dsn := siteDatabase(t, "CREATE TABLE member (id BIGINT PRIMARY KEY, n INT NOT NULL); INSERT INTO member VALUES (7, 0); SET GLOBAL max_connections = 400")
	a := cachedApp{testApp{changetest.NewApp(t, openersApp(t, "testdata/openers"), "DSN="+dsn)}, db}
	ask := func(queries string) map[string]string {
		t.Helper()
		got, err := a.Ask()
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]string{}
		for _, m := range openerLine.FindAllStringSubmatch(got, -1) {
			if values[m[1]] = m[2]; m[2] != "0 0 0 1" || m[3] != queries {
				t.Errorf("%s, want 0 0 0 1 after %s", m[0], queries)
			}
		}
		if n := strings.Count(got, "\n"); len(values) < 40 || n != len(values) {
			t.Errorf("%d of %d forms have an answer:\n%s", len(values), n, got)
		}
		return values
	}
	before := ask("4")
	site := a.site()
	site.Target.Policy.Allow = []iikanji.Promise{iikanji.TestedOnly}
	planned, err := change.Plan(t.Context(), site, cacheRemedy)
	if err != nil {
		t.Fatal(err)
	}
	applyPlanned(t, site, a.Dir, planned)
	after := ask("2")
	for form, want := range before {
		if after[form] != want {
			t.Errorf("%s: %q, before %q", form, after[form], want)
		}
	}
	t.Logf("%d forms", len(after))
}
