package lever

import (
	"strings"

	"github.com/iikanji/iikanji/internal/lever/sqlcall"
)

// newApp207 finds where an app opens its pool to MySQL, with the answers that it asks
// for again each time. The cache is a package with a generated plan, so that a change
// (see CacheEdits) and not a fix of one place adds it.
func newApp207(Facts) *Lever {
	return newLever("APP207", "the same answer again from the database", NoPromise, func(r *reporter) error {
		use := cacheUseOf(indexOf(r.pass), "")
		var reads []string
		for _, c := range callsOf(r.pass).Calls {
			if c.Text != nil && c.Text.Holes == 0 && IsSelect(c.Text.SQL) {
				reads = append(reads, c.Text.SQL)
			}
		}
		for _, at := range use.opens {
			if at.cached {
				continue
			}
			r.report(place{node: at.call, statements: reads, what: "no answer of the database is kept, also while nothing is written that changes it",
				how: "keep answers in a query cache until a write touches their rows"})
		}
		return nil
	}, indexAnalyzer, sqlcall.Analyzer)
}

// IsSelect reports whether a statement begins as one that reads rows.
func IsSelect(sql string) bool {
	sql = strings.TrimLeft(sql, " \t\r\n(")
	return len(sql) > 6 && strings.EqualFold(sql[:6], "SELECT")
}
