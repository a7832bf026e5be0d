package rewrite

import (
	"go/ast"
	"strings"
)

var queryCache = Lever{Code: "APP207", Title: "the same answer again from the database",
	Line:    "answers are asked for again although no write changed them; the share of answers from the query cache",
	Promise: NoPromise, Order: 15, Saved: Share{Lo: 0, Hi: 0.4}, Of: OfStatements, Whole: true,
	find: findPools,
}

// findPools finds where an app opens its pool to MySQL, or to files of SQLite, with the
// answers that it asks for again each time. The cache is a package with a generated plan,
// so that a change (see Cache) and not a fix of one place adds it. Files are left alone
// where the package reaches files by other ways, and beside a pool to MySQL, which gets
// the cache.
func findPools(r *reporter) error {
	use := cacheUseOf(indexOf(r.pass), "")
	resolve([]*cacheUse{use})
	var reads []string
	for _, c := range callsOf(r.pass).Calls {
		if c.Text != nil && c.Text.Holes == 0 && IsSelect(c.Text.SQL) {
			reads = append(reads, c.Text.SQL)
		}
	}
	what, opens := "no answer of the database is kept, also while nothing is written that changes it", use.of(mysqlDriver)
	hindered := use.blockers // what reaches files is of no interest to a pool to MySQL
	if len(opens) == 0 && len(use.blockers)+len(use.fileBlockers) == 0 {
		what = "no answer of the SQLite file is kept, also while nothing is written that changes it"
		for _, base := range fileDrivers {
			opens = append(opens, use.of(base)...)
		}
	}
	for _, at := range opens {
		if !at.cached {
			r.report(place{node: at.call, statements: reads, what: what, how: "keep answers in a query cache until a write touches their rows", why: whole(at.call, hindered)})
		}
	}
	return nil
}

// whole is why a fix of the place alone cannot add the cache: what hinders it, if anything
// does, else where it is made.
func whole(at ast.Node, hindered []string) refusal {
	if len(hindered) > 0 {
		return refusal{at, hindered[0]}
	}
	return refusal{at, "it is a change of the whole app, which iikanji sqlcache or the kind gocode makes"}
}

// IsSelect reports whether a statement begins as one that reads rows.
func IsSelect(sql string) bool {
	sql = strings.TrimLeft(sql, " \t\r\n(")
	return len(sql) > 6 && strings.EqualFold(sql[:6], "SELECT")
}
