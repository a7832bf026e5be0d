package rewrite

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// alone reports whether no run of a transaction sends more than one statement: there is one, which
// is not repeated, or each pair is on ways that exclude each other. One statement sees one state of
// the database in any case.
func (o *readOnlyTx) alone(use txUse) bool {
	if use.repeats || len(use.reads) > 1 && len(use.passed) > 0 {
		return false
	}
	for i, a := range use.reads {
		for _, b := range use.reads[i+1:] {
			if !o.excludes(a.Expr, b.Expr) {
				return false
			}
		}
	}
	return true
}

// again reports whether a name in a transaction may be come to more than once, or by a closure that
// anyone may call: a loop or a function literal is around it and not around what begins it.
func (o *readOnlyTx) again(id *ast.Ident, begun *ast.CallExpr) bool {
	for n := o.x.parent[id]; n != nil; n = o.x.parent[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return !within(begun, n)
		}
	}
	return false
}

// excludes reports whether of two calls, the first of which stands before the other, only one can
// run: they are in different branches, or the branch of the first one leaves the function.
func (o *readOnlyTx) excludes(a, b ast.Node) bool {
	var from ast.Node // the child of the node around both that has the first
	at := a
	for ; at != nil && !within(b, at); at = o.x.parent[at] {
		if o.leavesAlways(at) {
			return true
		}
		from = at
	}
	switch n := at.(type) {
	case *ast.IfStmt:
		return from == ast.Node(n.Body) && n.Else != nil && within(b, n.Else)
	case *ast.BlockStmt:
		first, isCase := from.(*ast.CaseClause)
		return isCase && !slices.ContainsFunc(n.List, func(s ast.Stmt) bool { return within(b, s) && s == ast.Stmt(first) }) && !fallsThrough(n)
	}
	return false
}

// leavesAlways reports whether a node is a block of its own that ends by leaving the function.
func (o *readOnlyTx) leavesAlways(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStmt:
		_, isBranch := o.x.parent[n].(*ast.IfStmt)
		return isBranch && len(n.List) > 0 && ends(o.x.pass.TypesInfo, n)
	case *ast.CaseClause:
		return len(n.Body) > 0 && ends(o.x.pass.TypesInfo, &ast.BlockStmt{List: n.Body})
	}
	return false
}

// fallsThrough reports whether a case of a switch goes on with the next one.
func fallsThrough(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		found = found || ok && b.Tok == token.FALLTHROUGH
		return !found
	})
	return found
}

// closesRows reports whether a function closes the rows that it reads one by one, and scans each
// row that it asks for: the end of a transaction closes what was left open, and a pool does not.
func (o *readOnlyTx) closesRows(use txUse) bool {
	for _, c := range use.reads {
		switch c.Op {
		case sqlcall.QueryRow:
			if c.Scan == nil {
				return false
			}
		case sqlcall.Query:
			rows := assignedTo(o.x.pass, c, 0)
			if rows == nil || !slices.ContainsFunc(o.x.uses[rows], func(id *ast.Ident) bool {
				sel, ok := o.x.parent[id].(*ast.SelectorExpr)
				return ok && sel.Sel.Name == "Close" && enclosing[*ast.DeferStmt](o.x, id) != nil
			}) {
				return false
			}
		}
	}
	return true
}
