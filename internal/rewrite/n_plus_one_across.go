package rewrite

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// A loop in one package may call a reader of another one, as a handler calls a repository. The
// twin is written there, and is exported.

// homes gives the loops of each package, with a way to those of the others.
func (g *appCode) homes() func(*part) *perElement {
	of := map[*part]*perElement{}
	var home func(*part) *perElement
	home = func(p *part) *perElement {
		if of[p] != nil {
			return of[p]
		}
		l := &perElement{reporter: &reporter{pass: p.pass(), code: "APP205", facts: g.facts}, calls: p.calls}
		l.still = quietness{pass: l.pass, calls: p.calls}
		l.home = func(fn *types.Func) *perElement {
			if q := g.decls[fn]; q != nil {
				return home(q)
			}
			return nil
		}
		of[p] = l
		return l
	}
	return home
}

// pass is a pass over a package that has been analysed.
func (p *part) pass() *analysis.Pass {
	pass := *p.x.pass
	pass.ResultOf = map[*analysis.Analyzer]any{inspect.Analyzer: inspector.New(pass.Files), sqlcall.Analyzer: p.calls, indexAnalyzer: p.x}
	pass.Report = func(analysis.Diagnostic) {}
	return &pass
}

// readAcross gives a place its fix where the loop calls the function of another package that sends
// the statement.
func (g *appCode) readAcross(home func(*part) *perElement, at round, s *sent, p *place) {
	loop, isStmt := at.loop.(ast.Stmt)
	d := s.p.x.decls[at.helper]
	if !isStmt || s.mapper != "" || d == nil || at.p == s.p || at.p.x.callee(at.call) != at.helper || !within(s.call, d) {
		return
	}
	if lit := enclosing[*ast.FuncLit](at.p.x, at.call); lit != nil && within(lit, loop) {
		p.why = refusal{lit, "a function literal in the loop sends the statement"}
		return
	}
	l := home(at.p)
	l.refused, l.reorders, home(s.p).reorders, l.locking, home(s.p).locking = refusal{}, false, false, false, false
	edits, ok := l.readAhead(at.call, at.helper, loop)
	if !ok {
		p.why = l.refused
		return
	}
	p.fixes = suggested("Read the rows of the next elements", edits)
	p.promise = home(s.p).weakened(p.promise)
}
