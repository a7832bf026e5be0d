package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// ranged reads only the rows of the time range that the code uses of them: rows
// are grouped by a time that is truncated, and only groups of a range are taken.
// Types and flow do not prove that the other rows have no influence on the groups
// that are taken, so the fix needs tested answers.
func (o *overreads) ranged(rd *reading) (place, bool) {
	d, ok := rd.first.Func.(*ast.FuncDecl)
	if !ok || len(rd.calls) != 1 {
		return place{}, false
	}
	for _, g := range o.groupings(d) {
		if p, ok := o.rangedBy(rd, d, g); ok {
			return p, true
		}
	}
	return place{}, false
}

// A grouping is a field of a group that holds the truncated time of its rows.
type grouping struct {
	field  *types.Var // of the group
	column string
	width  int64 // nanoseconds; 0: the time itself
}

// groupings finds the groupings that a function makes, itself or in functions of
// the package that it calls.
func (o *overreads) groupings(d *ast.FuncDecl) []grouping {
	var out []grouping
	seen := map[*ast.FuncDecl]bool{}
	var visit func(*ast.FuncDecl)
	visit = func(d *ast.FuncDecl) {
		if seen[d] || d.Body == nil {
			return
		}
		seen[d] = true
		ast.Inspect(d.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if fn := o.x.callee(n); fn != nil && o.x.decls[fn] != nil {
					visit(o.x.decls[fn])
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok {
					out = o.addGrouping(out, o.x.pass.TypesInfo.Uses[id], n.Value)
				}
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					if sel, ok := l.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
						out = o.addGrouping(out, o.x.named(sel), n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	visit(d)
	return out
}

func (o *overreads) addGrouping(out []grouping, target types.Object, value ast.Expr) []grouping {
	f, ok := target.(*types.Var)
	if !ok || !f.IsField() || !isNamed(f.Type(), "time", "Time") {
		return out
	}
	column, width, ok := o.truncated(value, 3)
	if !ok || !o.onlySetSo(f, column, width) {
		return out
	}
	g := grouping{f, column, width}
	if slices.Contains(out, g) {
		return out
	}
	return append(out, g)
}

// truncated reads "row.Time" and "row.Time.Truncate(d)", also through a local
// variable, and returns the column of Time.
func (o *overreads) truncated(e ast.Expr, depth int) (column string, width int64, ok bool) {
	if depth == 0 {
		return "", 0, false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		sel, isSel := ast.Unparen(e.Fun).(*ast.SelectorExpr)
		if !isSel || !isFunc(o.x.callee(e), "time", "Time.Truncate") {
			return "", 0, false
		}
		n, exact := o.int64(e.Args[0])
		column, inner, ok := o.truncated(sel.X, depth)
		return column, n, ok && exact && n > 0 && inner == 0
	case *ast.SelectorExpr:
		if f, isVar := o.x.named(e).(*types.Var); isVar && f.IsField() && isNamed(f.Type(), "time", "Time") {
			column, ok = o.tagged(e)
			return column, 0, ok
		}
	case *ast.Ident:
		if v := o.x.variable(e); v != nil {
			if value := o.x.fixedValue(v); value != nil {
				return o.truncated(value, depth-1)
			}
		}
	}
	return "", 0, false
}

func (o *overreads) int64(e ast.Expr) (int64, bool) {
	v := o.x.pass.TypesInfo.Types[e].Value
	if v == nil {
		return 0, false
	}
	return constant.Int64Val(constant.ToInt(v))
}

// onlySetSo reports whether every place that sets a field sets it to the same
// truncation of the same column.
func (o *overreads) onlySetSo(f *types.Var, column string, width int64) bool {
	for _, id := range o.x.uses[f] {
		var value ast.Expr
		switch p := o.x.parent[id].(type) {
		case *ast.KeyValueExpr:
			value = p.Value
		case *ast.SelectorExpr:
			a, ok := o.x.parent[p].(*ast.AssignStmt)
			if ok && slices.Contains(a.Lhs, ast.Expr(p)) {
				value = valueOf(p, a.Lhs, a.Rhs)
			} else if o.x.isWritten(p) {
				return false
			}
		}
		if value == nil {
			continue
		}
		c, w, ok := o.truncated(value, 3)
		if !ok || c != column || w != width {
			return false
		}
	}
	return true
}

// A span is the range of group times that the code takes: from <= t < to.
type span struct {
	from, to ast.Expr
	single   bool // only from itself
}

// rangedBy makes the fix for one grouping.
func (o *overreads) rangedBy(rd *reading, d *ast.FuncDecl, g grouping) (place, bool) {
	column, ok := rd.shapes[0].column(g.column)
	if !ok || !o.known(rd.shapes[0].table, g.column) || o.compares(rd.shapes[0], g.column) {
		return place{}, false
	}
	groups, site := o.groupsOf(d, g)
	if groups == nil {
		return place{}, false
	}
	sp, ok := o.spanOf(groups, site, g)
	if !ok {
		return place{}, false
	}
	rw := o.x.rewrite()
	from, to := o.x.text(sp.from), o.upper(sp, g, rw)
	args := []string{from, to}
	if site.call != nil {
		args = []string{o.freshIn(d, "from"), o.freshIn(d, "to")}
		o.addParameters(rw, d, args, column)
		o.passArguments(rw, site.call, from, to)
	}
	if !o.inYears(sp.from, 3) || !sp.single && !o.inYears(sp.to, 3) {
		clamp := o.addClamp(rw, d)
		args = []string{clamp + "(" + args[0] + ")", clamp + "(" + args[1] + ")"}
	}
	rw.statement(rd.first, rd.shapes[0].and(column+" >= ? AND "+column+" < ?"), args...)
	fix, ok := rw.fix("read the range that is used")
	return place{what: "all rows are read although groups of one range of time are used",
		how: fmt.Sprintf("add %s >= %s AND %s < %s to the statement", g.column, from, g.column, to), fixes: fix1(fix), proof: Tested, promise: TestedOnly}, ok
}

// compares reports whether the WHERE clause names a column already.
func (o *overreads) compares(s *shape, column string) bool {
	if s.where < 0 {
		return false
	}
	for _, t := range s.tokens[s.where:s.end] {
		if strings.EqualFold(t.Name(), column) {
			return true
		}
	}
	return false
}

// A groupSite is where the groups are: a variable of the function itself, or the
// result of its only call.
type groupSite struct {
	call *ast.CallExpr // nil: in the function that reads
	at   token.Pos     // what is fixed before it can be a bound
	fn   *ast.FuncDecl
}

// groupsOf returns the variable that holds the groups where they are used.
func (o *overreads) groupsOf(d *ast.FuncDecl, g grouping) (*types.Var, groupSite) {
	fn, ok := o.x.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if !ok {
		return nil, groupSite{}
	}
	if res := fn.Signature().Results(); res.Len() > 0 && o.holds(res.At(0).Type(), g) {
		calls := o.x.calls[fn]
		if len(calls) != 1 || len(o.x.uses[fn]) != 1 || d.Recv != nil && o.implements(fn) || fn.Signature().Variadic() {
			return nil, groupSite{}
		}
		a, ok := o.x.parent[calls[0]].(*ast.AssignStmt)
		caller := enclosing[*ast.FuncDecl](o.x, calls[0])
		if !ok || len(a.Rhs) != 1 || caller == nil || enclosing[*ast.FuncLit](o.x, calls[0]) != nil {
			return nil, groupSite{}
		}
		return o.x.variable(a.Lhs[0]), groupSite{calls[0], calls[0].Pos(), caller}
	}
	var groups *types.Var
	for v := range o.x.uses {
		lv, ok := v.(*types.Var)
		if ok && !lv.IsField() && within(posNode(lv.Pos()), d.Body) && o.holds(lv.Type(), g) && (groups == nil || lv.Pos() < groups.Pos()) {
			groups = lv
		}
	}
	if groups != nil {
		return groups, groupSite{nil, o.sql.Within(d.Body)[0].Pos(), d}
	}
	return nil, groupSite{}
}

// holds reports whether a type is a slice of the group's struct.
func (o *overreads) holds(t types.Type, g grouping) bool {
	sl, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	elem := sl.Elem()
	if p, ok := elem.Underlying().(*types.Pointer); ok {
		elem = p.Elem()
	}
	st, ok := elem.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if f == g.field {
			return true
		}
	}
	return false
}

// implements reports whether a method may be called through an interface of the package.
func (o *overreads) implements(fn *types.Func) bool {
	for _, obj := range o.x.pass.TypesInfo.Defs {
		name, ok := obj.(*types.TypeName)
		if !ok {
			continue
		}
		if face, ok := name.Type().Underlying().(*types.Interface); ok {
			for m := range face.Methods() {
				if m.Name() == fn.Name() {
					return true
				}
			}
		}
	}
	return fn.Exported() && o.x.pass.Pkg.Name() != "main"
}

// spanOf reads the range of the groups that are used: every use is in a loop over
// the groups whose body is one comparison of the group's time.
func (o *overreads) spanOf(groups *types.Var, site groupSite, g grouping) (span, bool) {
	var found *span
	for _, id := range o.x.uses[groups] {
		if !within(id, site.fn) || o.isBuilding(id) {
			continue
		}
		loop, ok := o.x.parent[id].(*ast.RangeStmt)
		if !ok {
			ix, isIndex := o.x.parent[id].(*ast.IndexExpr)
			if outer := enclosing[*ast.RangeStmt](o.x, id); !isIndex || outer == nil || o.x.variable(outer.X) != groups || o.x.variable(ix.Index) != o.x.variable(outer.Key) {
				return span{}, false
			}
			continue // judged with its loop
		}
		sp, ok := o.comparedSpan(loop, site, g)
		if !ok || found != nil && (o.x.text(found.from) != o.x.text(sp.from) || o.x.text(found.to) != o.x.text(sp.to)) {
			return span{}, false
		}
		found = &sp
	}
	if found == nil {
		return span{}, false
	}
	return *found, true
}

// isBuilding reports whether a use of the groups only makes them: its definition
// by a call, an append to itself, or a return in the function that reads.
func (o *overreads) isBuilding(id *ast.Ident) bool {
	switch p := o.x.parent[id].(type) {
	case *ast.AssignStmt:
		return slices.Contains(p.Lhs, ast.Expr(id))
	case *ast.CallExpr:
		if !o.isBuiltin(p, "append") || p.Args[0] != ast.Expr(id) {
			return false
		}
		a, ok := o.x.parent[p].(*ast.AssignStmt)
		return ok && o.x.variable(a.Lhs[0]) == o.x.variable(id)
	}
	return false
}

// comparedSpan reads a loop over groups whose body is "if group.time.Equal(x) { … }",
// alone or with "continue" for the other groups.
func (o *overreads) comparedSpan(loop *ast.RangeStmt, site groupSite, g grouping) (span, bool) {
	if len(loop.Body.List) == 0 {
		return span{}, false
	}
	branch, ok := loop.Body.List[0].(*ast.IfStmt)
	if !ok || branch.Init != nil || branch.Else != nil {
		return span{}, false
	}
	var atoms []ast.Expr
	negated := isContinue(branch.Body)
	switch {
	case negated:
		atoms = operands(branch.Cond, token.LOR)
	case len(loop.Body.List) == 1:
		atoms = operands(branch.Cond, token.LAND)
	default:
		return span{}, false
	}
	var sp span
	for _, a := range atoms {
		o.bound(&sp, a, negated, site, g)
	}
	return sp, sp.from != nil && sp.to != nil
}

// bound reads one comparison of the group's time.
func (o *overreads) bound(sp *span, e ast.Expr, negated bool, site groupSite, g grouping) {
	for {
		not, ok := ast.Unparen(e).(*ast.UnaryExpr)
		if !ok || not.Op != token.NOT {
			break
		}
		e, negated = not.X, !negated
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !isFunc(o.x.callee(call), "time", "Time.Before", "Time.After", "Time.Equal") {
		return
	}
	name, key, value := sel.Sel.Name, sel.X, call.Args[0]
	if !o.isKey(key, g) {
		key, value = value, key
		name = map[string]string{"Before": "After", "After": "Before", "Equal": "Equal"}[name]
	}
	if !o.isKey(key, g) {
		return
	}
	switch {
	case name == "Equal" && !negated:
		if o.fixedAt(value, site) {
			*sp = span{value, value, true}
		} else if from, to, ok := o.counted(value, site); ok {
			*sp = span{from, to, false}
		}
	case name == "Before" && negated && o.fixedAt(value, site): // from <= t
		sp.from = value
	case name == "Before" && !negated && o.fixedAt(value, site): // t < to
		sp.to = value
	}
}

func (o *overreads) isKey(e ast.Expr, g grouping) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && o.x.named(sel) == types.Object(g.field)
}

// counted reads the bounds of "for x := from; x.Before(to); x = x.Add(step)".
func (o *overreads) counted(e ast.Expr, site groupSite) (from, to ast.Expr, ok bool) {
	v := o.x.variable(e)
	if v == nil {
		return nil, nil, false
	}
	for n := o.x.parent[e]; n != nil; n = o.x.parent[n] {
		loop, isFor := n.(*ast.ForStmt)
		if !isFor {
			continue
		}
		init, isInit := loop.Init.(*ast.AssignStmt)
		cond, isCond := loop.Cond.(*ast.CallExpr)
		post, isPost := loop.Post.(*ast.AssignStmt)
		if !isInit || !isCond || !isPost || len(init.Lhs) != 1 || o.x.variable(init.Lhs[0]) != v {
			continue
		}
		sel, isSel := cond.Fun.(*ast.SelectorExpr)
		step, isStep := post.Rhs[0].(*ast.CallExpr)
		if !isSel || !isStep || o.x.variable(sel.X) != v || !isFunc(o.x.callee(cond), "time", "Time.Before") || !isFunc(o.x.callee(step), "time", "Time.Add") {
			return nil, nil, false
		}
		grow, exact := o.int64(step.Args[0])
		if !exact || grow <= 0 || len(o.x.writes(v)) != 1 || !o.fixedAt(init.Rhs[0], site) || !o.fixedAt(cond.Args[0], site) {
			return nil, nil, false
		}
		return init.Rhs[0], cond.Args[0], true
	}
	return nil, nil, false
}

// fixedAt reports whether an expression can be computed before the groups are
// read, with the same result: variables that are set once before, constants, and
// methods of times on them.
func (o *overreads) fixedAt(e ast.Expr, site groupSite) bool {
	e = ast.Unparen(e)
	if o.x.pass.TypesInfo.Types[e].Value != nil {
		return true
	}
	switch e := e.(type) {
	case *ast.Ident:
		v := o.x.variable(e)
		return v != nil && v.Parent() != o.x.pass.Pkg.Scope() && v.Pos() < site.at && within(posNode(v.Pos()), site.fn) && len(o.x.writes(v)) == 0 &&
			o.visible(v, site.at)
	case *ast.CallExpr:
		sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
		if !ok || !isFunc(o.x.callee(e), "time", "Time.Add", "Time.AddDate", "Time.Truncate", "Time.UTC", "Time.In", "Time.Local") {
			return false
		}
		for _, a := range e.Args {
			if !o.fixedAt(a, site) {
				return false
			}
		}
		return o.fixedAt(sel.X, site)
	}
	return false
}

func (o *overreads) visible(v *types.Var, at token.Pos) bool {
	scope := o.x.pass.Pkg.Scope().Innermost(at)
	if scope == nil {
		return false
	}
	_, found := scope.LookupParent(v.Name(), at)
	return found == v
}
