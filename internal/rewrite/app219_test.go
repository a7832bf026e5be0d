package rewrite

import (
	"strings"
	"testing"
)

// TestBusyTimeout: a transaction is offered only where other writers of the file wait for
// it, and do not fail at once.
func TestBusyTimeout(t *testing.T) {
	const source = `func store(names []string) error {
	db, err := sql.Open("sqlite", "file:a.db?mode=rw")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO t (name) VALUES (?)", name); err != nil {
			return err
		}
	}
	return nil
}`
	cases := map[string]int{
		source: 0,
		strings.Replace(source, "mode=rw", "mode=rw&_pragma=busy_timeout(5000)", 1): 1,
	}
	apps := loadEach(t, cases, func(text string, _ int) map[string]string { return map[string]string{"main.go": program(text)} })
	for text, want := range cases {
		res, err := runOn(apps[text].dir, apps[text].pkgs, Facts{}, []*Lever{&commitPerWrite})
		if err != nil || len(res.Hits) != 1 || len(res.Hits[0].Variants) != want {
			t.Errorf("%v: %+v, want a place with %d fixes", err, res.Hits, want)
		}
	}
}
