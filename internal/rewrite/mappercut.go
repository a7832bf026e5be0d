package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
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
		at, why := ast.Node(cut), "the list is cut in some cases only"
		always := l.alwaysCuts(x, call, cut, list, n)
		if other := l.usedBefore(x, call, cut, list); other != nil {
			at, why, always = other, "the code uses the whole list before it is cut", false
		}
		l.limitFind(*f, fmt.Sprintf("all rows are read by %s of %s and the list is cut to %d", f.chain.end, f.mapper, n), n, always, at, why)
	}
}

// findInto reads a call as a Find that fills a list; the list is a name, perhaps with fields.
func (l *stopping) findInto(x *index, call *ast.CallExpr) (*mapperFind, ast.Expr) {
	f, isFind := l.findAt(x, call)
	if !isFind {
		return nil, nil
	}
	if f.mapper == entMapper {
		if f.dest = returnedInto(x, call); f.dest == nil || !f.limitless() {
			return nil, nil
		}
		return &f, x.parent[call].(*ast.AssignStmt).Lhs[0]
	}
	u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr)
	if !ok || !plainPath(u.X) || !f.limitless() {
		return nil, nil
	}
	if _, isList := x.typeOf(u.X).Underlying().(*types.Slice); !isList {
		return nil, nil
	}
	f.dest = types.NewVar(call.Pos(), l.pass.Pkg, "", x.typeOf(u.X))
	return &f, u.X
}

// cutOf is the statement of the function that keeps the first n elements of a list, which a call
// fills; nil if there is none.
func (l *stopping) cutOf(x *index, call *ast.CallExpr, list ast.Expr) (cut *ast.AssignStmt, n int64) {
	function := x.function(call)
	if function == nil { // the value of a variable of the package
		return nil, 0
	}
	name := types.ExprString(list)
	ast.Inspect(bodyOfFunction(function), func(node ast.Node) bool {
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

// alwaysCuts reports whether each path behind a call that fills a list keeps no more than the
// list's first n elements: the cut is in the block of the call, by itself or in an if statement
// that asks whether the list is longer.
func (l *stopping) alwaysCuts(x *index, call *ast.CallExpr, cut *ast.AssignStmt, list ast.Expr, n int64) bool {
	at := ast.Node(cut)
	if asks, ok := x.parent[x.parent[cut]].(*ast.IfStmt); ok {
		b, isBinary := ast.Unparen(asks.Cond).(*ast.BinaryExpr)
		if !isBinary || b.Op != token.GTR && b.Op != token.GEQ || asks.Init != nil || asks.Else != nil || len(asks.Body.List) != 1 ||
			types.ExprString(b.X) != "len("+types.ExprString(list)+")" {
			return false
		}
		if m, known := intConstant(l.pass.TypesInfo, b.Y); !known || m > n {
			return false
		}
		at = asks
	}
	block, ok := x.parent[at].(*ast.BlockStmt)
	return ok && enclosing[*ast.BlockStmt](x, call) == block && !jumpsBetween(x, block, call, at)
}

// jumpsBetween reports whether a statement of a block between a call and a later statement leaves
// the block, besides a check of the call's error.
func jumpsBetween(x *index, block *ast.BlockStmt, call *ast.CallExpr, later ast.Node) bool {
	first := true // what follows the call
	for _, s := range block.List {
		if s.End() <= call.Pos() || s.Pos() >= later.Pos() {
			continue
		}
		asks, isIf := s.(*ast.IfStmt)
		check := isIf && isError(x.typeOf(notNil(x.pass.TypesInfo, asks.Cond)))
		if within(call, s) {
			if isIf && !check {
				return true
			}
			continue
		}
		if !(first && check) && (hasNode[*ast.ReturnStmt](s) || hasNode[*ast.BranchStmt](s)) {
			return true
		}
		first = false
	}
	return false
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
