package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A cutting is "if len(v) > n { v = v[:n] }" or "v = v[:min(n, len(v))]".
type cutting struct {
	stmt ast.Stmt
	n    ast.Expr
}

// cuttingOf returns the cut that a statement makes of a variable, with a constant
// size, or nil.
func (o *overreads) cuttingOf(s ast.Stmt, v *types.Var) *cutting {
	switch s := s.(type) {
	case *ast.IfStmt:
		if s.Init != nil || s.Else != nil || len(s.Body.List) != 1 {
			return nil
		}
		b, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
		if !ok || b.Op != token.GTR && b.Op != token.GEQ || !o.isLen(b.X, v) {
			return nil
		}
		n := o.slicedTo(s.Body.List[0], v)
		if n == nil || !o.sameConstant(n, b.Y) {
			return nil
		}
		return &cutting{s, n}
	case *ast.AssignStmt:
		call, ok := o.slicedTo(s, v).(*ast.CallExpr)
		if !ok || !o.isBuiltin(call, "min") || len(call.Args) != 2 {
			return nil
		}
		for i, a := range call.Args {
			if other := call.Args[1-i]; o.isLen(a, v) && o.positive(other) {
				return &cutting{s, other}
			}
		}
	}
	return nil
}

// slicedTo returns n of "v = v[:n]", or nil.
func (o *overreads) slicedTo(s ast.Stmt, v *types.Var) ast.Expr {
	a, ok := s.(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 || o.x.variable(a.Lhs[0]) != v {
		return nil
	}
	sl, ok := a.Rhs[0].(*ast.SliceExpr)
	if !ok || sl.Slice3 || o.x.variable(sl.X) != v || sl.High == nil || sl.Low != nil && o.x.text(sl.Low) != "0" {
		return nil
	}
	return sl.High
}

func (o *overreads) isLen(e ast.Expr, v *types.Var) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && o.isBuiltin(c, "len") && len(c.Args) == 1 && o.x.variable(c.Args[0]) == v
}

func (o *overreads) sameConstant(a, b ast.Expr) bool {
	x, y := o.x.pass.TypesInfo.Types[a].Value, o.x.pass.TypesInfo.Types[b].Value
	return x != nil && y != nil && o.positive(a) && constant.Compare(x, token.EQL, y)
}

func (o *overreads) positive(e ast.Expr) bool {
	v := o.x.pass.TypesInfo.Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) > 0
}

// cut limits a statement whose result is cut before anything else reads it, or
// whose loop takes over every row into a slice that is cut.
func (o *overreads) cut(rd *reading) (place, bool) {
	if rd.cursor {
		return place{}, false
	}
	if c := o.cutAtOnce(rd); c != nil {
		return o.limited(rd, c)
	}
	s := o.scanOf(rd)
	if s == nil {
		return place{}, false
	}
	c, out := o.cutAfter(s)
	if c == nil || !o.takesEach(s, out) {
		return place{}, false
	}
	return o.limited(rd, c)
}

// cutAtOnce returns the cut of the result when it comes before every other use.
func (o *overreads) cutAtOnce(rd *reading) *cutting {
	uses := o.readsOf(rd)
	if len(uses) == 0 {
		return nil
	}
	for n := ast.Node(uses[0]); n != nil; n = o.x.parent[n] {
		stmt, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		c := o.cuttingOf(stmt, rd.rows)
		if c == nil {
			continue
		}
		// The cut must follow in the block of the function, outside of loops.
		block, ok := o.x.parent[stmt].(*ast.BlockStmt)
		if !ok || stmt.Pos() < rd.last().Expr.End() || !within(rd.first.Expr, block) || o.loopBetween(rd.first.Expr, block) {
			return nil
		}
		return c
	}
	return nil
}

func (o *overreads) loopBetween(n ast.Node, outer ast.Node) bool {
	for n = o.x.parent[n]; n != nil && n != outer; n = o.x.parent[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return true
		}
	}
	return false
}

// cutAfter returns the cut that follows a loop in its block, and the slice.
func (o *overreads) cutAfter(s *scan) (*cutting, *types.Var) {
	block, ok := o.x.parent[s.loop].(*ast.BlockStmt)
	if !ok {
		return nil, nil
	}
	at := slices.Index(block.List, s.loop) + 1
	if at >= len(block.List) {
		return nil, nil
	}
	out := o.appended(s)
	if out == nil {
		return nil, nil
	}
	return o.cuttingOf(block.List[at], out), out
}

// appended returns the only slice that a loop appends to, which is empty before,
// or nil.
func (o *overreads) appended(s *scan) *types.Var {
	var out *types.Var
	bad := false
	ast.Inspect(s.loop, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 {
			return !bad
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		v := o.x.variable(a.Lhs[0])
		if !ok || v == nil || !o.isBuiltin(call, "append") || o.x.variable(call.Args[0]) != v || within(posNode(v.Pos()), s.loop) {
			return !bad
		}
		bad = bad || len(call.Args) != 2 || call.Ellipsis.IsValid() || out != nil && out != v
		out = v
		return !bad
	})
	if bad || out == nil || !o.emptyBefore(out, s) {
		return nil
	}
	for _, id := range o.x.uses[out] {
		if _, isAppend := o.appendOf(id); id.Pos() < s.loop.End() && !isAppend {
			return nil // its length is read in between
		}
	}
	return out
}

func (o *overreads) appendOf(id *ast.Ident) (*ast.AssignStmt, bool) {
	n := o.x.parent[id]
	if call, ok := n.(*ast.CallExpr); ok && o.isBuiltin(call, "append") && call.Args[0] == ast.Expr(id) {
		n = o.x.parent[call]
	}
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return nil, false
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	return a, ok && o.isBuiltin(call, "append")
}

// emptyBefore reports whether a slice is defined empty.
func (o *overreads) emptyBefore(v *types.Var, s *scan) bool {
	id := o.x.defs[v]
	if id == nil || id.Pos() > s.loop.Pos() {
		return false
	}
	switch p := o.x.parent[id].(type) {
	case *ast.ValueSpec:
		return len(p.Values) == 0
	case *ast.AssignStmt:
		switch e := valueOf(id, p.Lhs, p.Rhs).(type) {
		case *ast.CompositeLit:
			return len(e.Elts) == 0
		case *ast.CallExpr:
			return o.isBuiltin(e, "make") && len(e.Args) >= 2 && o.x.text(e.Args[1]) == "0"
		}
	}
	return false
}

// takesEach reports whether each round of a loop appends exactly once: its body
// has no way around the append, and no other effect.
func (o *overreads) takesEach(s *scan, out *types.Var) bool {
	appends := 0
	for _, stmt := range s.body {
		if a, ok := stmt.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && o.x.variable(a.Lhs[0]) == out {
			appends++
			continue
		}
		leaves := false
		ast.Inspect(stmt, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ReturnStmt, *ast.BranchStmt:
				leaves = true
			}
			return !leaves
		})
		if leaves {
			return false
		}
	}
	own := func(v *types.Var) bool { return v == out || within(posNode(v.Pos()), s.loop) }
	return appends == 1 && o.x.purity().pure(blockOf(s), own, mostCalls)
}

func blockOf(s *scan) *ast.BlockStmt {
	switch l := s.loop.(type) {
	case *ast.RangeStmt:
		return l.Body
	case *ast.ForStmt:
		return l.Body
	}
	return nil
}

// limited adds LIMIT to the statements and removes the cut, which has nothing to do
// then.
func (o *overreads) limited(rd *reading, c *cutting) (place, bool) {
	rw := o.x.rewrite()
	n := o.x.pass.TypesInfo.Types[c.n].Value.ExactString()
	for i, call := range rd.calls {
		limit, args := n, []string(nil)
		if _, literal := ast.Unparen(c.n).(*ast.BasicLit); !literal {
			limit, args = "?", []string{o.x.text(c.n)}
		}
		rw.statement(call, []sqltext.Edit{sqltext.AddLimit(rd.shapes[i].tokens, limit)}, args...)
	}
	rw.removeLines(c.stmt)
	fix, ok := rw.fix("limit the statement")
	return place{what: "rows behind the cut are read", how: "add LIMIT " + n + " to the statement", fixes: fix1(fix), promise: o.orderPromise(rd)}, ok
}

// orderPromise is what LIMIT weakens: rows with equal keys, which the database may
// return in any order, can come in another order.
func (o *overreads) orderPromise(rd *reading) Promise {
	for _, s := range rd.shapes {
		if !s.total(o.facts) {
			return RowOrder
		}
	}
	return NoPromise
}

// chunkFactor is how many times the size of a page is read at first, and by how
// much the number of rows grows while the page is not full.
const chunkFactor = 4

// paged reads ordered rows in growing chunks until the page is full: for a loop
// that filters by code and a cut behind it. Each round is one statement from the
// first row on, so the answer is that of one moment.
func (o *overreads) paged(rd *reading) (place, bool) {
	if rd.cursor {
		return place{}, false
	}
	s := o.scanOf(rd)
	if s == nil {
		return place{}, false
	}
	for _, sh := range rd.shapes {
		if sh.order < 0 {
			return place{}, false
		}
	}
	c, out := o.cutAfter(s)
	if c == nil {
		return place{}, false
	}
	first, body, ok := o.repeatable(rd, s, c)
	if !ok {
		return place{}, false
	}
	p := place{what: "the whole result is read although a page of it is answered", how: "read in growing chunks until the page is full", promise: o.orderPromise(rd)}
	if o.returnsInside(s.loop) {
		p.proof, p.promise = Tested, TestedOnly // an error behind the page is not found any more
	}
	fix, ok := o.chunked(rd, c, out, first, body)
	p.fixes = fix1(fix)
	return p, ok
}

func (o *overreads) returnsInside(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ReturnStmt:
			found = true
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}

// repeatable finds the statements of a function that can run once more with
// another limit: from the first variable that they set to the cut. What follows
// must end the function.
func (o *overreads) repeatable(rd *reading, s *scan, c *cutting) (first int, body *ast.BlockStmt, ok bool) {
	body, ok = o.x.parent[c.stmt].(*ast.BlockStmt)
	if !ok || !o.isFunctionBody(body) || hasLabel(body) {
		return 0, nil, false
	}
	if _, returns := body.List[len(body.List)-1].(*ast.ReturnStmt); !returns {
		return 0, nil, false
	}
	end := slices.Index(body.List, c.stmt)
	first = slices.IndexFunc(body.List, func(st ast.Stmt) bool { return within(rd.first.Expr, st) })
	calls := map[ast.Node]bool{}
	for _, call := range rd.calls {
		calls[call.Expr] = true
	}
	for first >= 0 {
		written, pure := o.effects(body.List[first:end], calls)
		if !pure {
			return 0, nil, false
		}
		outside := firstOutside(written, body.List[first])
		if outside == nil {
			break
		}
		before := first
		first = slices.IndexFunc(body.List[:before], func(st ast.Stmt) bool { return within(posNode(outside.Pos()), st) })
	}
	if first < 0 {
		return 0, nil, false
	}
	for _, id := range o.readsOf(rd) {
		if id.Pos() > c.stmt.Pos() {
			return 0, nil, false
		}
	}
	return first, body, true
}

func (o *overreads) isFunctionBody(b *ast.BlockStmt) bool {
	switch p := o.x.parent[b].(type) {
	case *ast.FuncDecl:
		return true
	case *ast.FuncLit:
		return p.Body == b
	}
	return false
}

func hasLabel(b *ast.BlockStmt) bool {
	found := false
	ast.Inspect(b, func(n ast.Node) bool {
		_, is := n.(*ast.LabeledStmt)
		found = found || is
		return !found
	})
	return found
}

// effects lists the variables that statements change. pure reports whether that is
// all they do besides the calls of the reading.
func (o *overreads) effects(stmts []ast.Stmt, calls map[ast.Node]bool) (written []*types.Var, pure bool) {
	p := o.x.purity()
	note := func(v *types.Var) bool {
		written = append(written, v)
		switch v.Type().Underlying().(type) {
		case *types.Pointer, *types.Map, *types.Slice:
			return p.madeHere(v)
		}
		return v.Parent() != o.x.pass.Pkg.Scope() && !v.IsField()
	}
	for call := range calls {
		for _, a := range call.(*ast.CallExpr).Args {
			if addr, ok := a.(*ast.UnaryExpr); ok && addr.Op == token.AND && o.x.variable(addr.X) != nil {
				written = append(written, o.x.variable(addr.X))
			}
		}
	}
	for _, st := range stmts {
		if !o.runsAgain(st, calls, note) {
			return nil, false
		}
	}
	return written, true
}

// firstOutside returns a variable that is defined before a statement. Errors are
// left out, because each round sets them.
func firstOutside(written []*types.Var, first ast.Stmt) *types.Var {
	for _, v := range written {
		if v != nil && v.Pos() < first.Pos() && !isError(v.Type()) {
			return v
		}
	}
	return nil
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// runsAgain reports whether a statement has no effect but on variables that note
// accepts, except for the statements of the reading and for errors that end the
// function.
func (o *overreads) runsAgain(st ast.Stmt, calls map[ast.Node]bool, note func(*types.Var) bool) bool {
	if a, ok := st.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && calls[a.Rhs[0]] {
		return len(a.Lhs) == 1 && (a.Tok == token.DEFINE || o.x.variable(a.Lhs[0]) != nil && isError(o.x.typeOf(a.Lhs[0])))
	}
	i, ok := st.(*ast.IfStmt)
	if !ok {
		return o.x.purity().pure(st, note, mostCalls)
	}
	if i.Init != nil && !o.runsAgain(i.Init, calls, note) {
		return false
	}
	if o.isErrorReturn(i) {
		return true
	}
	parts := slices.Clone(i.Body.List)
	switch e := i.Else.(type) {
	case *ast.BlockStmt:
		parts = append(parts, e.List...)
	case *ast.IfStmt:
		parts = append(parts, e)
	}
	for _, p := range parts {
		if !o.runsAgain(p, calls, note) {
			return false
		}
	}
	return o.x.purity().pure(i.Cond, noVariable, mostCalls)
}

// isErrorReturn reports whether an if statement with an init only leaves the
// function on an error.
func (o *overreads) isErrorReturn(i *ast.IfStmt) bool {
	plain := *i
	plain.Init = nil
	return o.isErrorCheck(&plain)
}

// chunked wraps the statements into a loop over growing limits.
func (o *overreads) chunked(rd *reading, c *cutting, out *types.Var, first int, body *ast.BlockStmt) (fix analysis.SuggestedFix, ok bool) {
	rw := o.x.rewrite()
	limit := o.freshIn(body, "limit")
	n := o.x.text(c.n)
	start := strconv.Itoa(chunkFactor) + "*" + n
	if v, exact := constant.Int64Val(o.x.pass.TypesInfo.Types[c.n].Value); exact && isLiteral(c.n) {
		start = strconv.FormatInt(v*chunkFactor, 10)
	}
	from, _ := o.x.lines(body.List[first])
	rw.insert(from, fmt.Sprintf("\t// Most pages are full after the first rows: read more only if this one is not.\n\tfor %s := %s; ; %s *= %d {\n", limit, start, limit, chunkFactor))
	for i, call := range rd.calls {
		mark := "?"
		rw.statement(call, []sqltext.Edit{sqltext.AddLimit(rd.shapes[i].tokens, mark)}, limit)
	}
	cut, _ := o.x.lines(c.stmt)
	rw.insert(cut, fmt.Sprintf("if len(%s) < %s && len(%s) == %s {\ncontinue\n}\n", out.Name(), n, rd.rows.Name(), limit))
	rw.insert(body.Rbrace, "}\n")
	return rw.fix("read in chunks")
}

func isLiteral(e ast.Expr) bool { _, ok := ast.Unparen(e).(*ast.BasicLit); return ok }

// freshIn returns a name that a node does not use and that hides nothing which it uses.
func (o *overreads) freshIn(n ast.Node, base string) string {
	used := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	name := base
	for i := 2; used[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	return name
}
