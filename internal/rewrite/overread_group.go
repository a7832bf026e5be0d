package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
)

// grouped moves the key of the only group that is used into the statement: rows
// are put into a map by a column, and the map is read at one key.
func (o *overreads) grouped(rd *reading) (place, bool) {
	s := o.scanOf(rd)
	if s == nil || len(s.body) != 1 {
		return place{}, false
	}
	groups, key := o.mapOf(s)
	if groups == nil {
		return place{}, false
	}
	var wanted ast.Expr
	for _, id := range o.x.uses[groups] {
		if within(id, s.loop) {
			continue
		}
		ix, ok := o.x.parent[id].(*ast.IndexExpr)
		if !ok || ix.X != ast.Expr(id) || o.x.isWritten(ix) || id.Pos() < s.loop.End() || !o.fixedBefore(rd, s, ix.Index) {
			return place{}, false
		}
		if wanted != nil && o.x.text(wanted) != o.x.text(ix.Index) {
			return place{}, false
		}
		wanted = ix.Index
	}
	if wanted == nil || !o.untouchedUntil(rd, wanted) {
		return place{}, false
	}
	column, ok := o.columnOf(s, key)
	if !ok {
		return place{}, false
	}
	c, ok := o.comparison(column, key, wanted, token.EQL)
	rw := o.x.rewrite()
	if !ok || !o.addConditions(rw, rd, []condition{c}) {
		return place{}, false
	}
	fix, ok := rw.fix("read one group")
	return place{what: "rows are grouped and one group is used", how: "add " + describe([]condition{c}) + " to the statement", fixes: fix1(fix)}, ok
}

// mapOf returns the map that the only statement of a loop fills, and the key:
// "m[k] = append(m[k], row)", "m[k] = row", "m[k]++", "m[k] += n".
func (o *overreads) mapOf(s *scan) (*types.Var, ast.Expr) {
	var target ast.Expr
	switch st := s.body[0].(type) {
	case *ast.AssignStmt:
		if len(st.Lhs) == 1 && st.Tok != token.DEFINE {
			target = st.Lhs[0]
		}
	case *ast.IncDecStmt:
		target = st.X
	}
	ix, ok := target.(*ast.IndexExpr)
	if !ok {
		return nil, nil
	}
	m := o.x.variable(ix.X)
	if m == nil || m.Parent() == o.x.pass.Pkg.Scope() || !o.emptyMap(m) {
		return nil, nil
	}
	if _, isMap := m.Type().Underlying().(*types.Map); !isMap {
		return nil, nil
	}
	own := func(v *types.Var) bool { return v == m }
	if !o.x.purity().pure(s.body[0], own, mostCalls) || !o.sameKey(s.body[0], m, ix.Index) {
		return nil, nil
	}
	return m, ix.Index
}

func (o *overreads) emptyMap(m *types.Var) bool {
	if len(o.x.writes(m)) > 0 {
		return false
	}
	switch e := o.x.fixedValue(m).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		return o.isBuiltin(e, "make")
	}
	return false
}

// sameKey reports whether a statement uses a map only at one key.
func (o *overreads) sameKey(st ast.Stmt, m *types.Var, key ast.Expr) bool {
	for _, id := range o.x.uses[m] {
		if !within(id, st) {
			continue
		}
		ix, ok := o.x.parent[id].(*ast.IndexExpr)
		if !ok || o.x.text(ix.Index) != o.x.text(key) {
			return false
		}
	}
	return true
}

// untouchedUntil reports whether the variable of a key is never written behind the
// statement.
func (o *overreads) untouchedUntil(rd *reading, e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		id, is := n.(*ast.Ident)
		if !is {
			return ok
		}
		if v := o.x.variable(id); v != nil && !v.IsField() {
			for _, w := range o.x.writes(v) {
				ok = ok && w.Pos() < rd.first.Expr.Pos()
			}
		}
		return ok
	})
	return ok
}
