package rewrite

import (
	"go/ast"
	"go/types"
	"slices"
)

// The key of a statement may be a field of a row that another statement of the round has read:
//
//	driver := &Driver{}
//	err := rowOf(trip.DriverID, func() error { … }, driver)
//	…
//	firm := &Firm{}
//	err = db.Get(firm, "SELECT * FROM firms WHERE id = ?", driver.FirmID)
//
// Once a rewrite reads the rows of that statement ahead, its rows have the next keys of this one.

// heldRows notes the map of rows in which the look-up of a rewrite finds the row whose field is the
// key. It reports whether there is one.
func (r *reader) heldRows(key ast.Expr) bool {
	sel, ok := ast.Unparen(key).(*ast.SelectorExpr)
	if !ok || !isIdent(sel.X) {
		return false
	}
	field := r.pass.TypesInfo.Selections[sel]
	row := localVar(r.pass.TypesInfo, sel.X)
	if row == nil || field == nil || field.Kind() != types.FieldVal || len(field.Index()) > 1 || !plainKey(field.Type()) {
		return false
	}
	ast.Inspect(bodyOfLoop(r.call.Loop), func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall || call.Pos() > r.call.Pos() || !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return localVar(r.pass.TypesInfo, a) == row }) {
			return r.aheadRows == ""
		}
		if held := r.lookedUpIn(call); held != nil && types.Identical(held.Type().Underlying().(*types.Map).Elem(), rowOfPointer(row.Type())) {
			r.aheadRows, r.aheadField = held.Name(), sel.Sel.Name
		}
		return r.aheadRows == ""
	})
	return r.aheadRows != ""
}

func rowOfPointer(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// lookedUpIn is the map in which a function literal, which a call names, looks one of its
// parameters up: row, ok := rows[key]. It is a variable of the function around the loop.
func (r *reader) lookedUpIn(call *ast.CallExpr) (held *types.Var) {
	x := sharedIndex(r.pass)
	fn := localVar(r.pass.TypesInfo, call.Fun)
	if fn == nil || fn.Pos() > r.call.Loop.Pos() {
		return nil
	}
	lit, ok := x.fixedValue(fn).(*ast.FuncLit)
	if !ok {
		return nil
	}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || len(a.Lhs) != 2 {
			return true
		}
		at, ok := a.Rhs[0].(*ast.IndexExpr)
		if !ok {
			return true
		}
		key, rows := localVar(r.pass.TypesInfo, at.Index), localVar(r.pass.TypesInfo, at.X)
		if key == nil || rows == nil || !within(posNode(key.Pos()), lit.Type) || rows.Pos() > r.call.Loop.Pos() {
			return true
		}
		if _, isMap := rows.Type().Underlying().(*types.Map); isMap {
			held = rows
		}
		return held == nil
	})
	return held
}
