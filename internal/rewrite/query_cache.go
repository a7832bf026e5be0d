package rewrite

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

var queryCache = Lever{Code: "APP207", Title: "the same answer again from the database",
	Line:    "answers are asked for again although no write changed them; the share of answers from the query cache",
	Promise: NoPromise, Order: 15, Saved: Share{Lo: 0, Hi: 0.4}, Of: OfStatements, Whole: true,
	find: findPools, whole: poolsOf, anew: true,
}

// findPools finds where an app opens its pool to MySQL, or to files of SQLite, with the
// answers that it asks for again each time. The cache is a package with a generated plan,
// so that a change (see Cache) and not a fix of one place adds it. Files are left alone
// where the app reaches files by other ways, and beside a pool to MySQL, which gets
// the cache.
func findPools(r *reporter) error {
	use := cacheUseOf(indexOf(r.pass), "")
	resolve([]*cacheUse{use})
	for _, at := range poolPlaces([]*cacheUse{use}, readsOf(callsOf(r.pass))) {
		r.report(at.place)
	}
	return nil
}

// poolsOf does so for the packages of an app at once: a driver may be named in one package
// and the pool opened in another one.
func poolsOf(g *appCode) (out []partPlace) {
	var pkgs []*packages.Package
	of := map[*packages.Package]*part{}
	for _, p := range g.parts {
		pkgs, of[p.pkg] = append(pkgs, p.pkg), p
	}
	with := runsWith(pkgs)
	for _, p := range g.parts {
		beside := with[p.pkg]
		if len(with) == 0 { // a module without a program
			beside = pkgs
		}
		if p.use == nil || len(beside) == 0 {
			continue
		}
		var uses []*cacheUse
		var reads []string
		for _, q := range beside {
			if of[q].use != nil {
				uses = append(uses, of[q].use.copied())
			}
			reads = append(reads, readsOf(of[q].calls)...)
		}
		resolve(uses)
		for _, at := range poolPlaces(uses, reads) {
			if at.use.x == p.use.x {
				out = append(out, partPlace{p, at.place})
			}
		}
	}
	return out
}

// copied is a copy that can be resolved beside other packages.
func (u *cacheUse) copied() *cacheUse {
	c := *u
	c.opens, c.unsure = slices.Clone(u.opens), slices.Clone(u.unsure)
	c.blockers, c.fileBlockers = slices.Clone(u.blockers), slices.Clone(u.fileBlockers)
	return &c
}

// readsOf are the statements of a package that read rows.
func readsOf(calls *sqlcall.Result) (out []string) {
	for _, c := range calls.Calls {
		for _, text := range c.All() {
			if IsSelect(text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// A poolPlace is a pool that can get the cache, or that is hindered.
type poolPlace struct {
	use *cacheUse
	place
}

func poolPlaces(uses []*cacheUse, reads []string) (out []poolPlace) {
	var hindered, byFiles []string
	for _, u := range uses {
		hindered, byFiles = append(hindered, u.blockers...), append(byFiles, u.fileBlockers...)
	}
	what, bases := "no answer of the database is kept, also while nothing is written that changes it", []string{mysqlDriver}
	if !slices.ContainsFunc(uses, func(u *cacheUse) bool { return len(u.of(mysqlDriver)) > 0 }) {
		what, bases = "no answer of the SQLite file is kept, also while nothing is written that changes it", fileDrivers
		if len(hindered)+len(byFiles) > 0 {
			return foreignPlaces(uses, reads)
		}
	}
	for _, u := range uses {
		for _, base := range bases {
			for _, at := range u.of(base) {
				if !at.cached {
					out = append(out, poolPlace{u, place{node: at.call, statements: reads, what: what, how: "keep answers in a query cache until a write touches their rows", why: whole(at.call, hindered)}})
				}
			}
		}
	}
	if len(out) == 0 && !slices.ContainsFunc(uses, func(u *cacheUse) bool {
		return slices.ContainsFunc(u.opens, func(at poolOpen) bool { return at.cached })
	}) {
		return foreignPlaces(uses, reads)
	}
	return out
}

// foreignPlaces are the pools of other engines, which get no cache.
func foreignPlaces(uses []*cacheUse, reads []string) (out []poolPlace) {
	for _, u := range uses {
		for _, at := range u.foreign {
			out = append(out, poolPlace{u, place{node: at.call, statements: reads, what: "no answer of the database is kept, also while nothing is written that changes it",
				how: "keep answers in the app until a write touches their rows", why: refusal{at.call, at.why}}})
		}
	}
	return out
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
