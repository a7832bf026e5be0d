package rewrite

import (
	"fmt"
	"go/ast"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// A partPlace is a place in one of several packages.
type partPlace struct {
	p *part
	place
}

// poolsAnalyzer notes where each package opens pools, for APP207.
var poolsAnalyzer = &analysis.Analyzer{Name: "cachepools", Doc: "find what a query cache must know of a package",
	Run:        func(pass *analysis.Pass) (any, error) { return cacheUseOf(indexOf(pass), ""), nil },
	ResultType: reflect.TypeFor[*cacheUse](), Requires: []*analysis.Analyzer{indexAnalyzer}}

// together adds the places that a lever finds in all packages at once. A place that has been
// found in one package already is left alone.
func (l *Lever) together(g *appCode, hits []Hit) []Hit {
	if l.anew {
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Code == l.Code })
	}
	for _, at := range l.whole(g) {
		if skipped(at.p.x.pass, at.node.Pos()) {
			continue
		}
		if at.why.at == nil {
			at.why.at = at.node
		}
		at.proof = Proven
		if len(at.fixes) == 0 {
			at.proof = Hint
		}
		h := hitOf(at.p.pkg, l.Code, at.place)
		if !slices.ContainsFunc(hits, func(o Hit) bool { return o.Code == h.Code && o.File == h.File && o.Line == h.Line }) {
			hits = append(hits, h)
		}
	}
	return hits
}

// perElementOf finds the loops that send a query for each element through functions, which
// may be of other packages: of the packages by themselves, find has them.
func perElementOf(g *appCode) []partPlace {
	home := g.homes()
	return g.sentInLoops(func(s *sent) bool { return !s.inserts && (s.mapper != "" || readsRows(s.text())) },
		func(at round, s *sent) place {
			p := place{node: at.call, statements: s.statements(), what: fmt.Sprintf("each element of the loop calls %s, which sends a query", at.helper.Name()),
				how: "read the rows of all elements by one statement before the loop"}
			if s.mapper != "" {
				p.what, p.how = p.what+" of "+s.mapper, s.how
			}
			g.readAcross(home, at, s, &p)
			return p
		})
}

// perElementInserts finds the loops that add a row for each element through functions.
func perElementInserts(g *appCode) []partPlace {
	return g.sentInLoops(func(s *sent) bool { return s.inserts },
		func(at round, s *sent) place {
			return place{node: at.call, statements: s.statements(), what: fmt.Sprintf("each element of the loop calls %s, which sends an INSERT", at.helper.Name()),
				how: "send the rows of many elements by one statement"}
		})
}

// sentInLoops are the places of loops that send statements through functions.
func (g *appCode) sentInLoops(wanted func(*sent) bool, describe func(round, *sent) place) (out []partPlace) {
	seen := map[ast.Node]bool{}
	for _, p := range g.parts {
		for _, s := range p.sent {
			if !wanted(s) {
				continue
			}
			g.ascend(s, func(at round) {
				if at.helper == nil || seen[at.call] || !at.varies() {
					return
				}
				seen[at.call] = true
				one := describe(at, s)
				if one.why.why == "" {
					one.why = refusal{s.call, g.apart(at, s)}
				}
				out = append(out, partPlace{at.p, one})
			})
		}
	}
	return out
}

// apart is why the loop of a round and the statement that it sends get no fix together. Its
// place is that of the statement.
func (g *appCode) apart(at round, s *sent) string {
	switch {
	case s.inserts:
		return "the row is added in another function, which would have to take the rows of all elements"
	case s.mapper != "":
		return byMapper(s.mapper, s.texts, unlikeAhead(s.call))
	case at.p != s.p:
		return "the statement is sent in another package; the query cache of APP207 reads such rows ahead"
	}
	return "the statement is sent several functions below; the query cache of APP207 reads such rows ahead"
}

// text is a text of the statement for its kind, "" where none is known.
func (s *sent) text() string {
	if len(s.texts) == 0 {
		return ""
	}
	return s.texts[0]
}

// statements are the texts for a place.
func (s *sent) statements() []string { return s.texts }
