package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A loop may be far from the statement that it sends: in a handler that calls a service that
// calls a repository, each in a package of its own. ascend follows a statement upwards from
// call to call, with the values that reach it, and reports each loop on the way.

// deepestHelper bounds the functions between a loop and the statement that it sends, and
// between a loop and the statement whose rows it goes over.
const deepestHelper = 4

// mostPlaces bounds the calls that are looked at for one statement.
const mostPlaces = 400

// An ascent follows one statement.
type ascent struct {
	g     *appCode
	child *sent
	seen  map[ast.Node]bool
	found func(at round)
}

// A round is a loop that sends the statement of an ascent for its elements.
type round struct {
	site            // the call in the loop's body: the statement, or a call of a helper
	loop   ast.Node // *ast.RangeStmt, *ast.ForStmt, or the call that a function literal is given to
	over   ast.Expr // what the loop goes over, nil for rows
	values flow     // that reach the statement, as they are in the loop
	helper *types.Func
}

// A flow is what reaches the arguments of a statement at one place.
type flow struct {
	p    *part
	args []ast.Expr
	// fields are those of parameters of the functions on the way: the functions were given
	// rows, and take the values themselves.
	fields []fieldIn
}

// A fieldIn is a selector in a package.
type fieldIn struct {
	x   *index
	sel ast.Expr
}

// ascend finds the loops around a statement.
func (g *appCode) ascend(child *sent, found func(at round)) {
	a := &ascent{g: g, child: child, seen: map[ast.Node]bool{}, found: found}
	a.around(child.site, flow{p: child.p, args: child.args}, nil, deepestHelper)
}

// around looks for loops around a call, and around the calls of its function.
func (a *ascent) around(at site, values flow, helper *types.Func, depth int) {
	if depth == 0 || a.seen[at.call] || len(a.seen) > mostPlaces {
		return
	}
	a.seen[at.call] = true
	x := at.p.x
	for n := x.parent[at.call]; n != nil; n = x.parent[n] {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if within(at.call, n.Body) {
				a.found(round{at, n, n.X, values, helper})
			}
		case *ast.ForStmt:
			if within(at.call, n.Body) {
				a.found(round{at, n, nil, values, helper})
			}
		case *ast.FuncLit:
			if a.literal(at, n, values, helper, depth) {
				return
			}
		case *ast.FuncDecl:
			fn, _ := x.pass.TypesInfo.Defs[n.Name].(*types.Func)
			for _, s := range a.g.sites[fn] {
				a.around(s, values.passed(fn, s), fn, depth-1)
			}
			return
		}
	}
}

// literal follows a function literal: one that a variable holds is run where the variable is
// called, one that a call is given beside a list may be run for each element. It reports
// whether the loops around the literal are none of the statement's.
func (a *ascent) literal(at site, lit *ast.FuncLit, values flow, helper *types.Func, depth int) bool {
	x := at.p.x
	switch parent := x.parent[lit].(type) {
	case *ast.AssignStmt:
		for i, l := range parent.Lhs {
			v := x.variable(l)
			if v == nil || i >= len(parent.Rhs) || parent.Rhs[i] != ast.Expr(lit) {
				continue
			}
			for _, id := range x.uses[v] {
				if call, ok := x.parent[id].(*ast.CallExpr); ok && call.Fun == ast.Expr(id) {
					s := site{at.p, call}
					a.around(s, values.given(lit, s), helper, depth-1)
				}
			}
			return true
		}
	case *ast.CallExpr:
		if over := eachOf(x, parent, lit); over != nil {
			a.found(round{at, parent, over, values, helper})
		}
	}
	return false
}

// eachOf is the list beside a function literal among the arguments of a call, if the
// literal takes an element of it: lo.Map(rooms, func(r Room, i int) View { … }).
func eachOf(x *index, call *ast.CallExpr, lit *ast.FuncLit) ast.Expr {
	params := lit.Type.Params
	if params.NumFields() == 0 {
		return nil
	}
	takes := x.typeOf(params.List[0].Type)
	for _, arg := range call.Args {
		list, ok := x.typeOf(arg).Underlying().(*types.Slice)
		if ok && takes != nil && types.Identical(list.Elem(), takes) {
			return arg
		}
	}
	return nil
}

// passed are the values of a flow as a call of the function gives them. What does not
// depend on a parameter or on the receiver is left out.
func (f flow) passed(fn *types.Func, s site) flow {
	out := flow{p: s.p, fields: f.withFields()}
	sig := fn.Signature()
	for _, v := range f.variables() {
		for i := range sig.Params().Len() {
			if sig.Params().At(i) == v && i < len(s.call.Args) {
				out.args = append(out.args, s.call.Args[i])
			}
		}
		if sel, ok := ast.Unparen(s.call.Fun).(*ast.SelectorExpr); ok && sig.Recv() == v {
			out.args = append(out.args, sel.X)
		}
	}
	return out
}

// withFields are the fields of a flow with those of parameters among its values.
func (f flow) withFields() []fieldIn {
	out := slices.Clone(f.fields)
	for _, a := range f.args {
		for _, e := range []ast.Expr{a, valueBehind(f.p.x, a)} {
			if sel, ok := e.(*ast.SelectorExpr); ok && f.p.x.variable(sel.X) != nil {
				out = append(out, fieldIn{f.p.x, sel})
			}
		}
	}
	return out
}

// given does the same for the call of a function literal.
func (f flow) given(lit *ast.FuncLit, s site) flow {
	out := flow{p: s.p, fields: f.withFields()}
	i := 0
	for _, field := range lit.Type.Params.List {
		for _, name := range field.Names {
			if v, ok := f.p.x.pass.TypesInfo.Defs[name].(*types.Var); ok && slices.Contains(f.variables(), v) && i < len(s.call.Args) {
				out.args = append(out.args, s.call.Args[i])
			}
			i++
		}
	}
	out.args = append(out.args, f.args...) // of variables around the literal
	return out
}

// variables are the variables that the values are made of, also through local variables
// that are set once.
func (f flow) variables() (out []*types.Var) {
	for _, e := range f.args {
		out = f.p.x.madeOf(e, out, deepestHelper)
	}
	return out
}

// madeOf appends the variables that an expression is made of.
func (x *index) madeOf(e ast.Node, to []*types.Var, depth int) []*types.Var {
	if e == nil || depth == 0 {
		return to
	}
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v := x.variable(id)
		if v == nil || v.IsField() || slices.Contains(to, v) {
			return true
		}
		to = append(to, v)
		if isLocal(v) {
			if value := x.fixedValue(v); value != nil {
				to = x.madeOf(value, to, depth-1)
			}
		}
		return true
	})
	return to
}

// varies reports whether a value of a round is of the round's element: it is made of a
// variable that the loop declares, and the loop ends with its elements.
func (r round) varies() bool {
	if !r.countable() {
		return false
	}
	from, to := r.loop.Pos(), r.loop.End()
	return slices.ContainsFunc(r.values.variables(), func(v *types.Var) bool { return from <= v.Pos() && v.Pos() < to })
}

// countable reports whether the loop goes over elements, or counts: one without an end, as
// one that waits for work, sends nothing "for each element".
func (r round) countable() bool {
	info := r.p.x.pass.TypesInfo
	switch loop := r.loop.(type) {
	case *ast.RangeStmt:
		_, channel := info.TypeOf(loop.X).Underlying().(*types.Chan)
		return !channel
	case *ast.ForStmt:
		if b, ok := loop.Cond.(*ast.BinaryExpr); ok {
			return slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, b.Op) && (measures(info, b) || r.counts(loop))
		}
		return rowsOf(loop) != nil
	}
	return true
}

// counts reports whether the counter of a loop reaches the statement: a loop that tries again does
// not tell it how often.
func (r round) counts(loop *ast.ForStmt) bool {
	init, ok := loop.Init.(*ast.AssignStmt)
	return ok && init.Tok == token.DEFINE && len(init.Lhs) == 1 && slices.Contains(r.values.variables(), r.p.x.variable(init.Lhs[0]))
}

// measures reports whether a condition compares with the length of something: a loop that
// tries again a few times compares with a number.
func measures(info *types.Info, b *ast.BinaryExpr) bool {
	for _, e := range []ast.Expr{b.X, b.Y} {
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && isBuiltin(info, call, "len") {
			return true
		}
	}
	return false
}

// rowsOf is what a loop for rows.Next() reads, nil for another loop.
func rowsOf(loop *ast.ForStmt) ast.Expr {
	next, ok := loop.Cond.(*ast.CallExpr)
	if !ok {
		return nil
	}
	if sel, ok := next.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Next" {
		return sel.X
	}
	return nil
}
