package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A Loop is a loop over the rows of one statement that sends another one for each.
type Loop struct {
	Parent, Child string
	// Column of the parent's rows is an argument of the child; "" if the source does not
	// show which.
	Column string
	Place  string // file and line of the loop
}

// loopsOf finds the loops of a package that send a SELECT for each row of another one:
// in their body, or in functions that it calls.
func loopsOf(x *index, calls *sqlcall.Result) []Loop {
	l := &loopFinder{x: x, calls: calls}
	for _, c := range calls.Calls {
		if c.Op != sqlcall.Exec && c.Op != sqlcall.Prepare && c.Text != nil && c.Text.Holes == 0 && IsSelect(c.Text.SQL) {
			l.child = c
			l.around(c.Expr, c.Args, deepestHelper)
		}
	}
	return l.found
}

// deepestHelper bounds the functions between a loop and the statement that it sends.
const deepestHelper = 4

type loopFinder struct {
	x     *index
	calls *sqlcall.Result
	child *sqlcall.Call
	found []Loop
}

// around looks for loops around a call, and around the calls of its function. args are the
// expressions that reach the statement from there.
func (l *loopFinder) around(call ast.Node, args []ast.Expr, depth int) {
	if depth == 0 {
		return
	}
	for n := l.x.parent[call]; n != nil; n = l.x.parent[n] {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if within(call, n.Body) {
				l.note(n, l.filled(n.X, n), args, l.x.variable(n.Value))
			}
		case *ast.ForStmt:
			if within(call, n.Body) {
				l.note(n, l.read(n), args, nil)
			}
		case *ast.FuncDecl:
			fn, _ := l.x.pass.TypesInfo.Defs[n.Name].(*types.Func)
			for _, site := range l.x.calls[fn] {
				l.around(site, l.passed(fn, site, args), depth-1)
			}
			return
		}
	}
}

// passed are the arguments of a call in the place of the parameters that reach a statement.
func (l *loopFinder) passed(fn *types.Func, site *ast.CallExpr, args []ast.Expr) (out []ast.Expr) {
	params := fn.Signature().Params()
	for _, a := range args {
		root := l.root(a)
		for i := range params.Len() {
			if root != nil && params.At(i) == root && i < len(site.Args) {
				out = append(out, site.Args[i])
				if _, plain := ast.Unparen(a).(*ast.Ident); !plain {
					out[len(out)-1] = a // a field of the parameter
				}
			}
		}
	}
	return out
}

// note adds a loop whose parent is known.
func (l *loopFinder) note(loop ast.Stmt, parent *sqlcall.Call, args []ast.Expr, row *types.Var) {
	if parent == nil || parent.Text == nil || parent.Text.Holes > 0 || parent == l.child {
		return
	}
	at := l.x.pass.Fset.Position(loop.Pos())
	one := Loop{Parent: sentText(parent), Child: sentText(l.child), Place: fmt.Sprintf("%s:%d", at.Filename[strings.LastIndexByte(at.Filename, '/')+1:], at.Line)}
	for _, a := range args {
		if name := l.column(a); name != "" && (row == nil || l.root(a) == row || l.root(a) == nil) {
			one.Column = name
			break
		}
	}
	l.found = append(l.found, one)
}

// sentText is the text of a call as the database gets it.
func sentText(c *sqlcall.Call) string {
	if c.Named {
		return sqltext.Positional(c.Text.SQL)
	}
	return c.Text.SQL
}

// filled is the statement whose rows fill the variable that a loop goes over.
func (l *loopFinder) filled(over ast.Expr, loop ast.Stmt) (found *sqlcall.Call) {
	v := l.root(over)
	if v == nil {
		return nil
	}
	for _, c := range l.calls.Calls {
		if c.Expr.Pos() > loop.Pos() || l.x.function(c.Expr) != l.x.function(loop) {
			continue
		}
		for _, d := range c.Dests {
			if l.root(d) == v {
				found = c
			}
		}
	}
	return found
}

// read is the statement whose rows a loop reads: for rows.Next().
func (l *loopFinder) read(loop *ast.ForStmt) (found *sqlcall.Call) {
	next, ok := loop.Cond.(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := next.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Next" {
		return nil
	}
	rows := l.x.variable(sel.X)
	for _, c := range l.calls.Calls {
		a, ok := l.x.parent[c.Expr].(*ast.AssignStmt)
		if ok && c.Expr.Pos() < loop.Pos() && rows != nil && l.x.variable(a.Lhs[0]) == rows {
			found = c
		}
	}
	return found
}

// root is the variable that an expression begins with: of &xs, xs[i].F, *x.
func (l *loopFinder) root(e ast.Expr) *types.Var {
	for {
		switch n := ast.Unparen(e).(type) {
		case *ast.Ident:
			return l.x.variable(n)
		case *ast.SelectorExpr:
			e = n.X
		case *ast.IndexExpr:
			e = n.X
		case *ast.StarExpr:
			e = n.X
		case *ast.UnaryExpr:
			if n.Op != token.AND {
				return nil
			}
			e = n.X
		default:
			return nil
		}
	}
}

// column is the column of a field by its tag, as sqlx maps it, else by its name in lower
// case, as it maps fields without one; "" for another expression.
func (l *loopFinder) column(e ast.Expr) string {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	s := structOf(l.x.pass.TypesInfo.TypeOf(sel.X))
	if s == nil {
		return ""
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() != sel.Sel.Name {
			continue
		}
		if tag := reflect.StructTag(s.Tag(i)).Get("db"); tag != "" {
			return tag
		}
		return strings.ToLower(sel.Sel.Name)
	}
	return ""
}
