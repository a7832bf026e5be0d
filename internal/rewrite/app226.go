package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcall"
)

var branchRows = Lever{Code: "APP226", Title: "rows that only one branch uses",
	Line:    "a query is sent also where a condition that is known before makes its rows useless",
	Promise: TestedOnly, Order: 19, Saved: Share{Lo: 0.05, Hi: 0.9}, Of: OfStatements,
	find: findBranchRows,
}

// findBranchRows finds queries whose rows only one branch of an if statement uses, or that
// what follows a check uses, although its condition is known before they are sent.
func findBranchRows(r *reporter) error {
	l := &branchReads{reporter: r, x: indexOf(r.pass), calls: callsOf(r.pass), moved: map[*ast.CallExpr]bool{}, helpers: map[*types.Func][]*sqlcall.Call{}}
	for c := range rootOf(r.pass).Preorder((*ast.BlockStmt)(nil)) {
		if block := c.Node().(*ast.BlockStmt); !skipped(r.pass, block.Pos()) {
			l.visit(block)
		}
	}
	return nil
}

type branchReads struct {
	*reporter
	x       *index
	calls   *sqlcall.Result
	moved   map[*ast.CallExpr]bool          // by a place that was reported
	helpers map[*types.Func][]*sqlcall.Call // see helper
}

// visit looks at each if statement of a block and at the statements before it.
func (l *branchReads) visit(block *ast.BlockStmt) {
	for k, st := range block.List {
		branch, ok := st.(*ast.IfStmt)
		if !ok || branch.Init != nil || k == 0 || !l.mayRead(block.List[:k]) {
			continue
		}
		for start := range k {
			if r := l.region(block, branch, block.List[start:k]); r != nil && l.offer(r) {
				break
			}
		}
	}
}

// region decides whether statements before an if statement can move into one of its
// branches, or the if statement before them; nil if not.
func (l *branchReads) region(block *ast.BlockStmt, branch *ast.IfStmt, span []ast.Stmt) *branchRegion {
	other, _ := branch.Else.(*ast.BlockStmt)
	for _, to := range []*ast.BlockStmt{branch.Body, other} {
		r := &branchRegion{l: l, block: block, branch: branch, span: span, to: to}
		if to != nil && r.movable() {
			return r
		}
	}
	r := &branchRegion{l: l, block: block, branch: branch, span: span}
	if r.leads() {
		return r
	}
	return nil
}

// mayRead reports whether statements have a query, or call a function that may send one.
func (l *branchReads) mayRead(list []ast.Stmt) (found bool) {
	for _, st := range list {
		ast.Inspect(st, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && !found {
				found = l.calls.At(call) != nil || l.x.decls[l.x.callee(call)] != nil
			}
			return !found
		})
	}
	return found
}

// longestCondition bounds the text of a condition in a finding.
const longestCondition = 60

// offer moves a region into the branch that uses it.
func (l *branchReads) offer(r *branchRegion) bool {
	for _, c := range r.sends {
		if l.moved[c] {
			return false
		}
	}
	p := place{node: r.first, what: "the rows of a query are used under a condition that is known before it is sent", how: "send it only if " + l.condition(r)}
	switch r.to {
	case nil:
		p.what, p.how = "a query is sent before a check that ends without its rows", "check first whether "+l.condition(r)
	case r.branch.Body:
	default:
		p.how = "do not send it if " + l.condition(r)
	}
	if r.locks {
		p.proof, p.promise = Tested, TestedOnly
	}
	for _, c := range r.reads {
		p.statements = append(p.statements, c.SQL())
	}
	fix, ok := l.fix(r)
	if !ok {
		return false
	}
	p.fixes = fix1(fix)
	for _, c := range r.sends {
		l.moved[c] = true
	}
	l.report(p)
	return true
}

// fix moves the statements of a region into the branch, or the check before them.
func (l *branchReads) fix(r *branchRegion) (analysis.SuggestedFix, bool) {
	rw := l.x.rewrite()
	if r.to == nil {
		from, to := l.x.lines(r.branch)
		at, _ := l.x.lines(r.span[0])
		rw.insert(at, l.x.between(from, to))
		rw.put(from, to, "")
		return rw.fix("Check before the rows are read")
	}
	text := ""
	for _, run := range r.runs() {
		from, _ := l.x.lines(run[0])
		_, to := l.x.lines(run[len(run)-1])
		text += l.x.between(from, to)
		rw.put(from, to, "")
	}
	file := l.pass.Fset.File(r.to.Pos())
	rw.insert(file.LineStart(file.Line(r.to.Lbrace)+1), text)
	return rw.fix("Read the rows in the branch that uses them")
}

// condition is the text of a region's condition for a finding.
func (l *branchReads) condition(r *branchRegion) string {
	text := strings.Join(strings.Fields(l.x.text(r.branch.Cond)), " ")
	if len(text) > longestCondition {
		return fmt.Sprintf("the condition of line %d holds", l.pass.Fset.Position(r.branch.Pos()).Line)
	}
	return text
}
