package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
)

// readThrough reports whether the address of a variable is given to a function of the package
// that only reads its fields: price(&trip) sets nothing.
func (l *perElement) readThrough(address *ast.UnaryExpr) bool {
	x := sharedIndex(l.pass)
	call, ok := x.parent[address].(*ast.CallExpr)
	return ok && x.readsParameter(call, address, deepestHelper)
}

// readsParameter reports whether the function of a call only reads the fields of what an
// argument points to, all of them plain values.
func (x *index) readsParameter(call *ast.CallExpr, arg ast.Expr, depth int) bool {
	fn := x.callee(call)
	d := x.decls[fn]
	if d == nil || d.Body == nil || depth == 0 || fn.Signature().Variadic() {
		return false
	}
	for i, a := range call.Args {
		if a != arg {
			continue
		}
		return i < fn.Signature().Params().Len() && x.onlyRead(fn.Signature().Params().At(i), depth)
	}
	return false
}

// onlyRead reports whether nothing is set through a pointer, and the pointer goes nowhere.
func (x *index) onlyRead(p *types.Var, depth int) bool {
	for _, id := range x.uses[p] {
		switch up := x.parent[id].(type) {
		case *ast.BinaryExpr:
			if up.Op != token.EQL && up.Op != token.NEQ {
				return false
			}
		case *ast.CallExpr:
			if !x.readsParameter(up, id, depth-1) {
				return false
			}
		case *ast.SelectorExpr:
			if !x.readsField(up) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// readsField reports whether a selector reads a field that is a plain value, and does not set
// it.
func (x *index) readsField(sel *ast.SelectorExpr) bool {
	v, ok := x.pass.TypesInfo.Uses[sel.Sel].(*types.Var)
	if !ok || !isPlain(v.Type()) {
		return false
	}
	switch up := x.parent[sel].(type) {
	case *ast.UnaryExpr:
		return up.Op != token.AND
	case *ast.IncDecStmt:
		return false
	case *ast.AssignStmt:
		for _, l := range up.Lhs {
			if l == ast.Expr(sel) {
				return false
			}
		}
	case *ast.RangeStmt:
		return up.Key != ast.Expr(sel) && up.Value != ast.Expr(sel)
	case *ast.ParenExpr:
		return false
	}
	return true
}
