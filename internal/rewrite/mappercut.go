package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
)

// A list that a mapper's Find fills may be cut to its first rows: tool.Loans = tool.Loans[:10].

// mappedCuts reports such lists. The list may be a field.
func (l *stopping) mappedCuts() {
	x := indexOf(l.pass)
	for c := range rootOf(l.pass).Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		f, list := l.findInto(x, call)
		if f == nil {
			continue
		}
		cut, n := l.cutOf(x, call, list)
		if cut == nil {
			continue
		}
		other := l.usedBefore(x, call, cut, list)
		at := ast.Node(cut)
		if other != nil {
			at = other
		}
		l.limitFind(*f, fmt.Sprintf("all rows are read by Find of %s and the list is cut to %d", f.mapper, n), n, other == nil, at, "the code uses the whole list before it is cut")
	}
}

// findInto reads a call as a Find that fills a list; the list is a name, perhaps with fields.
func (l *stopping) findInto(x *index, call *ast.CallExpr) (*mapperFind, ast.Expr) {
	fn := x.callee(call)
	if fn == nil || fn.Name() != "Find" || fn.Pkg() == nil || fn.Signature().Recv() == nil || len(call.Args) == 0 || skipped(l.pass, call.Pos()) {
		return nil, nil
	}
	f := &mapperFind{call: call, chain: &mapperChain{x: x, path: fn.Pkg().Path(), end: "Find"}, mapper: "gorm"}
	switch f.chain.path {
	case gormPath, oldGormPath:
	case xormPath, oldXormPath:
		f.mapper = "xorm"
	default:
		return nil, nil
	}
	u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr)
	if !ok || !plainPath(u.X) || !f.limitless() {
		return nil, nil
	}
	if _, isList := x.typeOf(u.X).Underlying().(*types.Slice); !isList {
		return nil, nil
	}
	f.dest = types.NewVar(call.Pos(), l.pass.Pkg, "", x.typeOf(u.X))
	return f, u.X
}

// cutOf is the statement of the function that keeps the first n elements of a list, which a call
// fills; nil if there is none.
func (l *stopping) cutOf(x *index, call *ast.CallExpr, list ast.Expr) (cut *ast.AssignStmt, n int64) {
	name := types.ExprString(list)
	ast.Inspect(bodyOfFunction(x.function(call)), func(node ast.Node) bool {
		a, ok := node.(*ast.AssignStmt)
		if !ok || cut != nil || a.Pos() < call.End() || len(a.Lhs) != 1 || len(a.Rhs) != 1 || types.ExprString(a.Lhs[0]) != name {
			return cut == nil
		}
		s, ok := a.Rhs[0].(*ast.SliceExpr)
		if !ok || s.Slice3 || s.High == nil || types.ExprString(s.X) != name {
			return true
		}
		if s.Low != nil {
			if low, known := intConstant(l.pass.TypesInfo, s.Low); !known || low != 0 {
				return true
			}
		}
		if m, known := intConstant(l.pass.TypesInfo, s.High); known && m > 0 {
			cut, n = a, m
		}
		return true
	})
	return cut, n
}

// usedBefore is what uses a list between the call that fills it and the cut, besides the question
// whether it is longer; nil if nothing does.
func (l *stopping) usedBefore(x *index, call *ast.CallExpr, cut *ast.AssignStmt, list ast.Expr) (use ast.Node) {
	name, root := types.ExprString(list), l.pass.TypesInfo.ObjectOf(rootIdent(list))
	asks, _ := x.parent[x.parent[cut]].(*ast.IfStmt)
	for _, id := range x.uses[root] {
		if id.Pos() < call.End() || id.Pos() >= cut.Pos() || asks != nil && within(id, asks.Cond) {
			continue
		}
		whole := ast.Expr(id)
		for {
			up, ok := x.parent[whole].(*ast.SelectorExpr)
			if !ok || up.X != whole || len(types.ExprString(up)) > len(name) {
				break
			}
			whole = up
		}
		if text := types.ExprString(whole); text == name || len(text) < len(name) && !isSelectorOf(x, whole) {
			return id
		}
	}
	return nil
}

// isSelectorOf reports whether an expression is a part of a longer path: another field is used.
func isSelectorOf(x *index, e ast.Expr) bool {
	up, ok := x.parent[e].(*ast.SelectorExpr)
	return ok && up.X == e
}
