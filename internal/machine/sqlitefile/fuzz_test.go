package sqlitefile

import (
	"testing"

	"github.com/iikanji/iikanji"
)

// FuzzPlanLine reads lines of query plans, which have names of the app's tables.
func FuzzPlanLine(f *testing.F) {
	for _, line := range []string{"SCAN t", "SEARCH t USING COVERING INDEX x (a=? AND b>?)", "SEARCH t USING AUTOMATIC PARTIAL COVERING INDEX (a=?)",
		"SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "USE TEMP B-TREE FOR ORDER BY", "MULTI-INDEX OR"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var p iikanji.QueryPlan
		addDetail(&p, line)
		if len(p.Steps) > 1 || len(p.Steps) == 1 && p.Steps[0].Table == "" {
			t.Errorf("%q: %+v", line, p)
		}
	})
}

// FuzzPlaceholders counts question marks in statements of an app.
func FuzzPlaceholders(f *testing.F) {
	f.Add("SELECT '?' || \"a?\" /* ? */ FROM t WHERE a = ? -- ?\n AND b = ?")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for _, c := range []byte(text) {
			if c == '?' {
				n++
			}
		}
		if got := placeholders(text); got > n {
			t.Errorf("%q: %d of %d question marks", text, got, n)
		}
	})
}
