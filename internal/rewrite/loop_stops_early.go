package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var loopStopsEarly = Lever{Code: "APP202", Title: "a loop over rows stops early",
	Line:    "all rows are read by a loop that takes a constant number of them",
	Promise: RowOrder, Order: 2, Saved: Share{Lo: 0.2, Hi: 0.9}, Of: OfStatements,
	find: findEarlyStops,
}

// findEarlyStops finds loops over rows that stop after a constant number of them.
func findEarlyStops(r *reporter) error {
	l := &stopping{firstRow{reporter: r, calls: callsOf(r.pass)}}
	for _, c := range l.calls.Calls {
		if c.Text == nil || c.Text.Holes > 0 || leftAlone(r.pass, c) {
			continue
		}
		if s, err := parse(c.SQL()); err == nil && s.selects() != nil && s.selects().Limit == nil && !r.facts.atMostOne(s.selects()) {
			l.visit(c, s)
		}
	}
	l.mapped()
	l.mappedCuts()
	return nil
}

type stopping struct{ firstRow }

// A rowLoop is a loop over the rows of a query.
type rowLoop struct {
	stmt  ast.Stmt
	body  *ast.BlockStmt
	index types.Object // the key of a range, or the counter in the header
	conds []ast.Expr   // what the header asks besides for a row
}

func (l *stopping) visit(c *sqlcall.Call, s *statement) {
	var loop *rowLoop
	switch c.Op {
	case sqlcall.Query:
		if v := assignedTo(l.pass, c, 0); v != nil && l.calls.Writes[v] == 1 {
			loop = l.overRows(v)
		}
	case sqlcall.Select:
		if v := localVar(l.pass.TypesInfo, c.Dests[0]); v != nil {
			loop = l.overSlice(v)
		}
	}
	if loop == nil {
		if c.Op == sqlcall.Select {
			l.given(c, s)
		}
		return
	}
	n, proven := l.count(loop)
	if n <= 0 {
		return
	}
	p := place{node: c.Expr, statements: []string{s.sql}, what: fmt.Sprintf("all rows are read and the loop stops after %d", n), how: fmt.Sprintf("end the query with LIMIT %d", n)}
	switch {
	case !proven:
		p.what = fmt.Sprintf("all rows are read and the loop stops after %d that pass its conditions", n)
		p.how = "put the conditions into WHERE, and a LIMIT"
	case sqltext.Locks(s.tokens):
		p.promise = Isolation // fewer rows are locked
	case s.selects().OrderBy == nil:
		p.promise = RowOrder
	}
	if !proven && c.Op == sqlcall.Select {
		if edits, ok := l.inParts(c, s, loop, n); ok {
			p.how = fmt.Sprintf("read %d rows first, and all where they are not enough", partOf(n))
			p.fixes, p.promise = suggested("Read the first rows first", edits), l.partPromise(s)
		}
		l.report(p)
		return
	}
	e, ok := limited(s, fmt.Sprint(n))
	if l.needs(proven, loop.stmt, "the loop leaves rows out by conditions that the statement does not have") && l.needs(ok, c.Expr, "the statement takes no LIMIT at its end") {
		if edits, ok := c.Text.Edits(e); l.needs(ok, c.Expr, textSpread) {
			p.fixes = suggested(fmt.Sprintf("Read %d rows", n), edits)
		}
	}
	l.report(p)
}

// overRows is the only loop over rows of database/sql or sqlx that are otherwise
// only scanned and closed.
func (l *stopping) overRows(v *types.Var) *rowLoop {
	var loop *rowLoop
	for _, use := range usesOf(l.pass, v) {
		sel, ok := above(use).Node().(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		call, ok := above(above(use)).Node().(*ast.CallExpr)
		if !ok || call.Fun != sel {
			return nil
		}
		switch sel.Sel.Name {
		case "Scan", "StructScan", "MapScan", "SliceScan", "Close", "Err", "Columns":
		case "Next":
			if loop != nil {
				return nil
			}
			loop = nextLoop(above(above(use)))
			if loop == nil {
				return nil
			}
		default:
			return nil
		}
	}
	return loop
}

// nextLoop is the loop whose condition is a call of Next, perhaps with others.
func nextLoop(next inspector.Cursor) *rowLoop {
	loop := &rowLoop{}
	for c := above(next); ; c = above(c) {
		switch n := c.Node().(type) {
		case *ast.BinaryExpr:
			if n.Op != token.LAND {
				return nil
			}
			for _, x := range []ast.Expr{n.X, n.Y} {
				if next.Node().Pos() < x.Pos() || next.Node().End() > x.End() {
					loop.conds = append(loop.conds, ast.Unparen(x))
				}
			}
		case *ast.ForStmt:
			if n.Cond == nil || next.Node().Pos() < n.Cond.Pos() || next.Node().End() > n.Cond.End() {
				return nil
			}
			loop.stmt, loop.body = n, n.Body
			return loop
		default:
			return nil
		}
	}
}

// overSlice is the only loop over a slice that is otherwise only filled and checked
// for being empty.
func (l *stopping) overSlice(v *types.Var) *rowLoop {
	if _, ok := v.Type().Underlying().(*types.Slice); !ok || !l.startsEmpty(v) {
		return nil
	}
	var loop *rowLoop
	var indexed []*ast.IndexExpr
	for _, use := range usesOf(l.pass, v) {
		switch p := above(use).Node().(type) {
		case *ast.UnaryExpr:
			call, ok := above(above(use)).Node().(*ast.CallExpr)
			if !ok || !l.fills(call) {
				return nil
			}
		case *ast.RangeStmt:
			if loop != nil || p.X != use.Node() {
				return nil
			}
			loop = &rowLoop{stmt: p, body: p.Body}
			if id, ok := p.Key.(*ast.Ident); ok && id.Name != "_" {
				loop.index = l.pass.TypesInfo.ObjectOf(id)
			}
		case *ast.IndexExpr:
			indexed = append(indexed, p)
		case *ast.CallExpr:
			b, ok := above(above(use)).Node().(*ast.BinaryExpr)
			if !isBuiltin(l.pass.TypesInfo, p, "len") || !ok || !comparesWithZero(l.pass.TypesInfo, b, p) {
				return nil
			}
		default:
			return nil
		}
	}
	for _, x := range indexed { // xs[i] with the index of the loop
		id, ok := ast.Unparen(x.Index).(*ast.Ident)
		if loop == nil || loop.index == nil || !ok || l.pass.TypesInfo.ObjectOf(id) != loop.index || x.Pos() < loop.body.Pos() || x.End() > loop.body.End() {
			return nil
		}
	}
	return loop
}

// count is the number of rows after which a loop stops; 0 for a loop that does not.
// proven: no row is skipped before it is counted.
func (l *stopping) count(loop *rowLoop) (n int64, proven bool) {
	filters := continues(loop.body)
	if len(loop.conds) > 0 { // for rows.Next() && len(out) < 20
		b, ok := loop.conds[0].(*ast.BinaryExpr)
		if !ok {
			return 0, false
		}
		n, strict := l.bound(b, token.LSS, token.LEQ)
		if n == 0 || !strict {
			return 0, false
		}
		at, kind := l.counter(loop, b.X)
		return n, kind == stepAlways && at.IsValid() && !filters && len(loop.conds) == 1
	}
	for i, s := range loop.body.List {
		if i == len(loop.body.List)-1 && leavesLoop(s) {
			return 1, !filters
		}
		check, ok := s.(*ast.IfStmt)
		if !ok || check.Init != nil || check.Else != nil || len(check.Body.List) == 0 || !leavesLoop(check.Body.List[len(check.Body.List)-1]) {
			continue
		}
		b, ok := check.Cond.(*ast.BinaryExpr)
		if !ok {
			continue
		}
		n, strict := l.bound(b, token.GEQ, token.GTR)
		if b.Op == token.EQL {
			n, strict = l.bound(b, token.EQL, token.EQL)
		}
		if n <= 0 || !strict {
			continue
		}
		if got, sure := l.stops(loop, check, b, n); got > 0 {
			return got, sure && !filters
		}
	}
	return 0, false
}

// bound is the constant of a comparison of x with a constant. strict: the operator
// is op.
func (l *stopping) bound(b *ast.BinaryExpr, op, other token.Token) (int64, bool) {
	n, ok := intConstant(l.pass.TypesInfo, b.Y)
	if !ok || b.Op != op && b.Op != other {
		return 0, false
	}
	return n, b.Op == op
}

// stops is the number of rows after which a check leaves a loop.
func (l *stopping) stops(loop *rowLoop, check *ast.IfStmt, b *ast.BinaryExpr, n int64) (int64, bool) {
	x := ast.Unparen(b.X)
	plus := int64(0)
	if sum, ok := x.(*ast.BinaryExpr); ok && sum.Op == token.ADD { // i+1 >= n
		if k, ok := intConstant(l.pass.TypesInfo, sum.Y); ok {
			plus, x = k, ast.Unparen(sum.X)
		}
	}
	id, isIdent := x.(*ast.Ident)
	_, bare := check.Body.List[0].(*ast.BranchStmt)
	if isIdent && loop.index != nil && l.pass.TypesInfo.ObjectOf(id) == loop.index {
		// With index i, i+1 rows were taken at the end of the body and i at its
		// beginning.
		if n-plus < 0 || l.calls.Writes[loop.index] != 1 {
			return 0, false
		}
		if check == loop.body.List[0] && bare {
			return n - plus, true
		}
		return n - plus + 1, true
	}
	if plus != 0 {
		return 0, false
	}
	at, kind := l.counter(loop, x)
	switch {
	case kind == noStep:
		return 0, false
	case kind == stepSometimes:
		return n, false
	case at < check.Pos(): // counted before the check
		return n, true
	}
	if bare {
		return n, true
	}
	return n + 1, true // the check of the next row does more than to leave
}

type step uint8

const (
	noStep step = iota
	stepSometimes
	stepAlways
)

// counter finds the statement that counts rows: n++, or out = append(out, x) for
// len(out). It is zero before the loop.
func (l *stopping) counter(loop *rowLoop, x ast.Expr) (at token.Pos, kind step) {
	isLen := false
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && isBuiltin(l.pass.TypesInfo, call, "len") && len(call.Args) == 1 {
		x, isLen = call.Args[0], true
	}
	v := localVar(l.pass.TypesInfo, x)
	if v == nil || !l.zeroBefore(v, loop, isLen) {
		return token.NoPos, noStep
	}
	for _, use := range usesOf(l.pass, v) {
		stmt, counts := l.steps(use, v, isLen)
		if !counts {
			continue
		}
		inBody := loop.body.Pos() <= stmt.Pos() && stmt.End() <= loop.body.End()
		inPost := false
		if f, ok := loop.stmt.(*ast.ForStmt); ok && f.Post != nil {
			inPost = f.Post == stmt
		}
		if !inBody && !inPost || kind != noStep {
			return token.NoPos, noStep
		}
		at, kind = stmt.Pos(), stepSometimes
		for _, s := range loop.body.List {
			if s == stmt {
				kind = stepAlways
			}
		}
		if inPost {
			at, kind = loop.body.End(), stepAlways
		}
	}
	want := 0
	if isLen {
		want = 1 // append
	}
	if l.assignments(v) != want {
		return token.NoPos, noStep
	}
	return at, kind
}

// steps reports whether a use of a variable is in n++ or out = append(out, x).
func (l *stopping) steps(use inspector.Cursor, v *types.Var, isLen bool) (ast.Stmt, bool) {
	switch p := use.Parent().Node().(type) {
	case *ast.IncDecStmt:
		return p, !isLen && p.Tok == token.INC
	case *ast.AssignStmt:
		if !isLen || len(p.Lhs) != 1 || len(p.Rhs) != 1 || p.Lhs[0] != use.Node() || p.Tok != token.ASSIGN {
			return nil, false
		}
		call, ok := p.Rhs[0].(*ast.CallExpr)
		return p, ok && isBuiltin(l.pass.TypesInfo, call, "append") && len(call.Args) == 2 && !call.Ellipsis.IsValid() && localVar(l.pass.TypesInfo, call.Args[0]) == v
	}
	return nil, false
}

// assignments counts the assignments to a variable after its declaration.
func (l *stopping) assignments(v *types.Var) (n int) {
	for _, use := range usesOf(l.pass, v) {
		if a, ok := use.Parent().Node().(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				if lhs == use.Node() {
					n++
				}
			}
		}
		if u, ok := use.Parent().Node().(*ast.UnaryExpr); ok && u.Op == token.AND {
			n += 2
		}
	}
	return n
}

// zeroBefore reports whether a variable is declared as zero, or as an empty slice,
// before a loop and in the same block.
func (l *stopping) zeroBefore(v *types.Var, loop *rowLoop, isLen bool) bool {
	if loop.body.Pos() <= v.Pos() && v.Pos() < loop.body.End() {
		return false
	}
	block, ok := parentOf(l.pass, loop.stmt).(*ast.BlockStmt)
	inHeader := loop.stmt.Pos() <= v.Pos() && v.Pos() < loop.body.Pos()
	if !ok || !inHeader && (v.Pos() < block.Pos() || v.Pos() > block.End()) {
		return false
	}
	if isLen {
		_, ok := v.Type().Underlying().(*types.Slice)
		return ok && l.startsEmpty(v)
	}
	for c := range rootOf(l.pass).Preorder((*ast.Ident)(nil)) {
		if l.pass.TypesInfo.Defs[c.Node().(*ast.Ident)] != v {
			continue
		}
		switch p := c.Parent().Node().(type) {
		case *ast.ValueSpec:
			return len(p.Values) == 0
		case *ast.AssignStmt:
			if len(p.Lhs) != 1 || len(p.Rhs) != 1 {
				return false
			}
			n, ok := intConstant(l.pass.TypesInfo, p.Rhs[0])
			return ok && n == 0
		}
	}
	return false
}

// leavesLoop reports whether a statement leaves the loop around it for good.
func leavesLoop(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK && s.Label == nil
	}
	return false
}

// continues reports whether a body skips rows, or jumps in a way that is not
// followed.
func continues(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = found || labels(n)
			return false
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			found = found || n.Tok == token.CONTINUE || n.Tok == token.GOTO || n.Label != nil
		}
		return !found
	})
	return found
}

// labels reports whether an inner loop jumps to a label.
func labels(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		found = found || ok && b.Label != nil
		return !found
	})
	return found
}
