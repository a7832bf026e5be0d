package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// Loops that fixes have rewritten call function literals, which later fixes look into.

// harmlessClosure reports whether a call of a local variable writes nothing to the table: it holds
// a function literal, or one that a function of the module returns, or it is a parameter of such a
// literal that each of its calls gives a literal, which is looked at where it stands.
func (w *tableWrites) harmlessClosure(call *ast.CallExpr) bool {
	v := localVar(w.pass.TypesInfo, call.Fun)
	if v == nil || !isIdent(call.Fun) {
		return false
	}
	x := sharedIndex(w.pass)
	switch value := x.fixedValue(v).(type) {
	case *ast.FuncLit:
		return w.looked(w, value, value.Body)
	case *ast.CallExpr:
		fn, ok := typeutil.Callee(w.pass.TypesInfo, value).(*types.Func)
		if !ok {
			return false
		}
		there := *w
		there.perElement = w.homeOf(fn)
		if d := there.calls.Decl(fn); d != nil && d.Body != nil && returnsLiterals(d) {
			return w.looked(&there, d, d.Body)
		}
	case nil:
		return givenLiterals(x, v)
	}
	return false
}

// returnsLiterals reports whether a function returns function literals only, which stand in its
// body: neither a method nor what it was given.
func returnsLiterals(d *ast.FuncDecl) bool {
	ok := true
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			ok = ok && len(n.Results) > 0 && !slices.ContainsFunc(n.Results, func(e ast.Expr) bool {
				_, isLit := ast.Unparen(e).(*ast.FuncLit)
				return !isLit
			})
		}
		return ok
	})
	return ok
}

// looked looks into a body once.
func (w *tableWrites) looked(there *tableWrites, node ast.Node, body *ast.BlockStmt) bool {
	if w.seen[node] {
		return true // of a recursion, the other calls decide
	}
	if w.seen == nil {
		w.seen = map[ast.Node]bool{}
	}
	w.seen[node] = true
	there.seen = w.seen
	if there.noneIn(body, false) {
		return true
	}
	if w.culprit == nil {
		w.culprit = there.culprit
	}
	delete(w.seen, node)
	return false
}

// givenLiterals reports whether a variable is a parameter of a function literal in a variable, and
// each call of that variable gives it a function literal.
func givenLiterals(x *index, param *types.Var) bool {
	id := x.defs[param]
	if id == nil || len(x.writes(param)) > 0 {
		return false
	}
	lit, ok := x.function(id).(*ast.FuncLit)
	if !ok || !within(id, lit.Type) {
		return false
	}
	a, ok := x.parent[lit].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 {
		return false
	}
	f := x.variable(a.Lhs[0])
	at := -1
	for i := range lit.Type.Params.NumFields() {
		if x.typeOf(lit).(*types.Signature).Params().At(i) == param {
			at = i
		}
	}
	return f != nil && at >= 0 && len(x.writes(f)) == 0 && !slices.ContainsFunc(x.uses[f], func(use *ast.Ident) bool {
		call := x.callOf(use)
		if call == nil || at >= len(call.Args) {
			return true
		}
		_, isLit := call.Args[at].(*ast.FuncLit)
		return !isLit
	})
}

// unionOfSelects reports whether a statement's text is built as fixes build it: of constants that
// begin as a SELECT, joined by UNION ALL, in a strings.Builder.
func (w *tableWrites) unionOfSelects(c *sqlcall.Call) bool {
	if c.QueryArg == nil {
		return false
	}
	x := sharedIndex(w.pass)
	build, ok := operands(c.QueryArg, token.ADD)[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := build.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "String" || !isIdent(sel.X) {
		return false
	}
	text := localVar(w.pass.TypesInfo, sel.X)
	if text == nil || !isNamed(text.Type(), "strings", "Builder") {
		return false
	}
	for _, more := range operands(c.QueryArg, token.ADD)[1:] {
		if w.pass.TypesInfo.Types[more].Value == nil {
			return false
		}
	}
	return !slices.ContainsFunc(x.uses[text], func(id *ast.Ident) bool { return !w.addsSelect(x, id) })
}

// addsSelect reports whether a use of a strings.Builder reads it, or adds a part of a union of
// SELECTs.
func (w *tableWrites) addsSelect(x *index, id *ast.Ident) bool {
	part := ast.Expr(nil)
	switch up := x.parent[id].(type) {
	case *ast.SelectorExpr:
		call, ok := x.parent[up].(*ast.CallExpr)
		if !ok || up.Sel.Name == "String" {
			return ok
		}
		if up.Sel.Name != "WriteString" || len(call.Args) != 1 {
			return false
		}
		part = call.Args[0]
	case *ast.UnaryExpr:
		call, ok := x.parent[up].(*ast.CallExpr)
		if !ok || !isFunc(x.callee(call), "fmt", "Fprintf") || len(call.Args) < 2 || call.Args[0] != ast.Expr(up) {
			return false
		}
		part = call.Args[1]
	default:
		return false
	}
	constant := strings.ToUpper(strings.TrimLeft(constantText(w.pass, part), " (\n\t"))
	return strings.HasPrefix(constant, "SELECT ") || strings.TrimSpace(constant) == "UNION ALL"
}
