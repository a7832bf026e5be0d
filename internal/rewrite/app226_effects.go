package rewrite

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcall"
)

// moves reports whether a node only reads from a pool and sets variables of the region.
// It notes what it sends. Where a query fails, its function may end.
func (r *branchRegion) moves(node ast.Node) bool {
	ok := true
	ast.Inspect(node, func(n ast.Node) bool {
		if !ok {
			return false
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			if r.fails(n) { // what happens then does not matter
				ok = (n.Init == nil || r.moves(n.Init)) && r.moves(n.Cond)
				return false
			}
		case *ast.ReturnStmt:
			ok = r.helper && r.succeeds(n)
		case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt, *ast.FuncLit, *ast.LabeledStmt:
			ok = false
		case *ast.BranchStmt:
			ok = r.jumpsInside(n)
		case *ast.DeferStmt:
			ok = r.closes(n.Call)
			return false
		case *ast.UnaryExpr:
			_, lit := ast.Unparen(n.X).(*ast.CompositeLit)
			ok = n.Op != token.ARROW && (n.Op != token.AND || lit || r.own(n.X))
		case *ast.AssignStmt:
			ok = !slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return !r.sets(e) })
		case *ast.IncDecStmt:
			ok = r.sets(n.X)
		case *ast.RangeStmt:
			ok = r.ranges(n)
		case *ast.CallExpr:
			ok = r.calls(n)
		}
		return ok
	})
	return ok
}

// fails reports whether an if statement only handles the failure of a query, and leaves
// the region then:
//
//	if err != nil && !errors.Is(err, sql.ErrNoRows) { return err }
func (r *branchRegion) fails(check *ast.IfStmt) bool {
	if check.Else != nil || !leaves(check.Body) {
		return false
	}
	return slices.ContainsFunc(allOf(check.Cond), func(e ast.Expr) bool {
		b, ok := e.(*ast.BinaryExpr)
		return ok && b.Op == token.NEQ && r.l.pass.TypesInfo.Types[b.Y].IsNil() && r.failure(r.l.x.variable(b.X), check)
	})
}

// allOf has the parts of a condition that must all hold.
func allOf(e ast.Expr) []ast.Expr {
	e = ast.Unparen(e)
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.LAND {
		return append(allOf(b.X), allOf(b.Y)...)
	}
	return []ast.Expr{e}
}

// failure reports whether a variable has the error of a query of the region, or of a lock,
// where an if statement compares it.
func (r *branchRegion) failure(v *types.Var, check *ast.IfStmt) bool {
	if check.Init != nil {
		return r.failedIn(v, check.Init)
	}
	return r.failedBefore(v, check)
}

// failedBefore does so for the statement before another one.
func (r *branchRegion) failedBefore(v *types.Var, st ast.Stmt) bool {
	list, ok := r.l.x.parent[st].(*ast.BlockStmt)
	if !ok {
		return false
	}
	at := slices.Index(list.List, st)
	return at > 0 && r.failedIn(v, list.List[at-1])
}

// failedIn reports whether a statement of the region sets a variable to the error of a
// query, or of a lock.
func (r *branchRegion) failedIn(v *types.Var, set ast.Stmt) bool {
	a, ok := set.(*ast.AssignStmt)
	if v == nil || !isError(v.Type()) || !ok || !r.holds(a) || len(a.Rhs) != 1 || !slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return r.l.x.variable(e) == v }) {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	return ok && (r.l.calls.At(call) != nil || chained(r.l.calls, call) || r.readsRows(call) || r.takesLock(call) || r.l.helper(r.l.x.callee(call)) != nil)
}

// jumpsInside reports whether a jump stays in the statements that move.
func (r *branchRegion) jumpsInside(jump *ast.BranchStmt) bool {
	if jump.Label != nil || jump.Tok == token.GOTO {
		return false
	}
	for n := r.l.x.parent[jump]; n != nil && r.holds(n); n = r.l.x.parent[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		case *ast.SwitchStmt, *ast.TypeSwitchStmt:
			if jump.Tok != token.CONTINUE {
				return true
			}
		}
	}
	return false
}

// closes reports whether a call releases what the region opened.
func (r *branchRegion) closes(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) > 0 || sel.Sel.Name != "Close" && sel.Sel.Name != "Unlock" {
		return false
	}
	v := r.l.x.variable(sel.X)
	if v == nil || !r.declares(v) {
		return false
	}
	for _, path := range []string{"database/sql", "github.com/jmoiron/sqlx"} {
		if isNamed(v.Type(), path, "Rows") || isNamed(v.Type(), path, "Stmt") || isNamed(v.Type(), path, "NamedStmt") {
			return true
		}
	}
	return isNamed(v.Type(), flockPath, "Flock")
}

// sets reports whether an assignment changes a variable of the region only.
func (r *branchRegion) sets(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return r.own(e)
	}
	v := r.l.x.variable(id)
	return id.Name == "_" || v != nil && (r.declares(v) || r.spare(v))
}

// own reports whether an expression names memory of the region's variables.
func (r *branchRegion) own(e ast.Expr) bool {
	info := r.l.pass.TypesInfo
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v := r.l.x.variable(e)
		return v != nil && r.declares(v)
	case *ast.SelectorExpr:
		sel := info.Selections[e]
		if sel == nil || sel.Kind() != types.FieldVal {
			return false
		}
		if !sel.Indirect() {
			return r.own(e.X)
		}
		return len(sel.Index()) == 1 && r.made(e.X)
	case *ast.IndexExpr:
		switch info.TypeOf(e.X).Underlying().(type) {
		case *types.Array:
			return r.own(e.X)
		case *types.Slice, *types.Map:
			return r.made(e.X)
		}
	case *ast.StarExpr:
		return r.made(e.X)
	}
	return false
}

// made reports whether an expression is a variable of the region that refers to memory
// which the region made.
func (r *branchRegion) made(e ast.Expr) bool {
	v := r.l.x.variable(e)
	return v != nil && r.declares(v) && r.l.x.purity().madeHere(v)
}

// spare reports whether a variable that is declared before the region, as err, may be set
// there. It is a variable of the function only, and no other round of a loop reads it. If
// the region moves into a branch, it is used before, and is not read after the branch until
// it is set again: in the branch, another variable of its name takes its place.
func (r *branchRegion) spare(v *types.Var) bool {
	x := r.l.x
	def, fn := x.defs[v], x.function(r.block)
	if def == nil || fn == nil || !within(def, bodyOfFunc(fn)) {
		return false
	}
	for n := x.parent[r.block]; n != nil && n != fn; n = x.parent[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if !within(def, n) {
				return false // the next round may read it
			}
		}
	}
	read := false
	var later []*ast.Ident
	for _, id := range x.uses[v] {
		switch {
		case x.function(id) != fn:
			return false
		case r.holds(id) || r.to != nil && within(id, r.to):
		case id.Pos() < r.span[0].Pos():
			read = read || !x.isWritten(id)
		default:
			later = append(later, id)
		}
	}
	return r.to == nil || read && r.setFirst(later)
}

// setFirst reports whether the first use is a statement of the block that sets the
// variable without reading it.
func (r *branchRegion) setFirst(uses []*ast.Ident) bool {
	if len(uses) == 0 {
		return true
	}
	a, ok := r.l.x.parent[uses[0]].(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN && a.Tok != token.DEFINE || r.l.x.parent[a] != ast.Node(r.block) || !slices.Contains(a.Lhs, ast.Expr(uses[0])) {
		return false
	}
	return !slices.ContainsFunc(uses[1:], func(id *ast.Ident) bool { return within(id, a) })
}

// ranges reports whether a loop goes over a value, and receives nothing.
func (r *branchRegion) ranges(loop *ast.RangeStmt) bool {
	switch t := r.l.pass.TypesInfo.TypeOf(loop.X).Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map, *types.Basic:
	case *types.Pointer:
		if _, ok := t.Elem().Underlying().(*types.Array); !ok {
			return false
		}
	default:
		return false
	}
	for _, e := range []ast.Expr{loop.Key, loop.Value} {
		if e != nil && loop.Tok == token.ASSIGN && !r.sets(e) {
			return false
		}
	}
	return true
}

// calls reports whether a call is a query, reads its rows, takes a lock file, or only
// computes.
func (r *branchRegion) calls(n *ast.CallExpr) bool {
	x := r.l.x
	if c := r.l.calls.At(n); c != nil {
		return r.query(c)
	}
	switch {
	case chained(r.l.calls, n), r.readsRows(n):
		return !slices.ContainsFunc(n.Args, func(e ast.Expr) bool { return !r.destination(e) })
	case r.takesLock(n):
		r.locks = true
		return true
	case r.l.calls.Unbound(n) != ast.Expr(n): // db.Rebind(text)
		return true
	case isBuiltin(x.pass.TypesInfo, n, "append"):
		return r.made(n.Args[0])
	case isBuiltin(x.pass.TypesInfo, n, "copy"), isBuiltin(x.pass.TypesInfo, n, "delete"), isBuiltin(x.pass.TypesInfo, n, "clear"):
		return r.made(n.Args[0])
	case isBuiltin(x.pass.TypesInfo, n, "panic"):
		return false
	}
	if inner := r.l.helper(x.callee(n)); inner != nil {
		r.reads, r.sends = append(r.reads, inner...), append(r.sends, n)
		r.first = cmp.Or(r.first, n)
		return true
	}
	return x.purity().pureCall(n, noVariable, mostCalls)
}

// helper has the queries of a function of the package that only reads, and fails only
// where one of them fails; nil for other functions.
func (l *branchReads) helper(fn *types.Func) []*sqlcall.Call {
	if known, ok := l.helpers[fn]; ok {
		return known
	}
	d := l.x.decls[fn]
	if d == nil || d.Body == nil || len(l.calls.Within(d)) == 0 {
		return nil
	}
	l.helpers[fn] = nil // a recursion is none
	r := &branchRegion{l: l, block: d.Body, span: d.Body.List, helper: true}
	for _, st := range r.span {
		if !r.moves(st) {
			return nil
		}
	}
	if !r.locks {
		l.helpers[fn] = r.reads
	}
	return l.helpers[fn]
}

// succeeds reports whether a return of a function has no error, or only that of a query.
func (r *branchRegion) succeeds(ret *ast.ReturnStmt) bool {
	d, ok := r.l.x.function(ret).(*ast.FuncDecl)
	if !ok {
		return false
	}
	results := r.l.pass.TypesInfo.Defs[d.Name].(*types.Func).Signature().Results()
	if results.Len() == 0 || !isError(results.At(results.Len()-1).Type()) {
		return true
	}
	if len(ret.Results) != results.Len() {
		return false
	}
	switch e := ast.Unparen(ret.Results[len(ret.Results)-1]).(type) {
	case *ast.Ident:
		return r.l.pass.TypesInfo.Types[e].IsNil() || r.failedBefore(r.l.x.variable(e), ret)
	case *ast.CallExpr:
		return r.l.calls.At(e) != nil || chained(r.l.calls, e) || r.readsRows(e)
	}
	return false
}

// destination reports whether a row can be read into an expression.
func (r *branchRegion) destination(e ast.Expr) bool {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return r.own(u.X)
	}
	return r.made(e)
}

// readsRows reports whether a call is a method of the rows of a query of the region.
func (r *branchRegion) readsRows(n *ast.CallExpr) bool {
	sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Next", "Scan", "StructScan", "Err", "Close"}, sel.Sel.Name) {
		return false
	}
	v := r.l.x.variable(sel.X)
	return v != nil && r.declares(v) && (isNamed(v.Type(), "database/sql", "Rows") || isNamed(v.Type(), "github.com/jmoiron/sqlx", "Rows"))
}

// takesLock reports whether a call is of a function of the package that takes a lock
// file and returns it, and sends no statement.
func (r *branchRegion) takesLock(n *ast.CallExpr) bool {
	x := r.l.x
	fn := x.callee(n)
	d := x.decls[fn]
	if d == nil || d.Body == nil || fn.Signature().Results().Len() != 2 || !isNamed(fn.Signature().Results().At(0).Type(), flockPath, "Flock") || len(r.l.calls.Within(d)) > 0 {
		return false
	}
	still := quietness{pass: x.pass, calls: r.l.calls}
	takes := false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		takes = takes || ok && isFunc(x.callee(call), flockPath, "Flock.Lock")
		return !takes
	})
	return takes && still.ownVariables(d)
}

// query reports whether a call sends a query through a pool, by a SELECT without an
// effect, that gives rows or a count: no row that is missing is an error.
func (r *branchRegion) query(c *sqlcall.Call) bool {
	kind := c.Handle.Kind
	if c.Prepared != nil {
		kind = c.Prepared.Handle.Kind
	}
	if kind != sqlcall.DB || c.Must || c.Op == sqlcall.Exec || c.Text == nil || c.Text.Holes > 0 {
		return false
	}
	s, err := parse(c.SQL())
	if err != nil || s.selects() == nil || sqltext.Locks(s.tokens) || effective(s.selects()) {
		return false
	}
	r.sends = append(r.sends, c.Expr)
	switch c.Op {
	case sqlcall.Prepare:
		return true
	case sqlcall.Get, sqlcall.QueryRow:
		if !countsAll(s.selects()) || len(c.Dests) == 0 {
			return false
		}
	}
	r.reads, r.first = append(r.reads, c), cmp.Or(r.first, c.Expr)
	return !slices.ContainsFunc(c.Dests, func(e ast.Expr) bool { return !r.destination(e) })
}

// An effectFinder looks for parts of a SELECT that have an effect, or wait.
type effectFinder struct{ found bool }

func (a *effectFinder) Enter(n tidb.Node) (tidb.Node, bool) {
	switch n := n.(type) {
	case *tidb.FuncCallExpr:
		a.found = a.found || slices.Contains([]string{"get_lock", "release_lock", "release_all_locks", "sleep", "benchmark", "last_insert_id", "nextval", "setval", "load_file",
			"master_pos_wait", "master_gtid_wait", "source_pos_wait", "wait_for_executed_gtid_set"}, n.FnName.L)
	case *tidb.VariableExpr:
		a.found = true
	}
	return n, a.found
}

func (a *effectFinder) Leave(n tidb.Node) (tidb.Node, bool) { return n, true }

// effective reports whether a SELECT has an effect, or waits.
func effective(sel *tidb.SelectStmt) bool {
	a := &effectFinder{}
	sel.Accept(a)
	return a.found
}
