package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var testPerRow = Lever{Code: "APP215", Title: "each row of a list is tested by a statement",
	Line:    "the condition could be in the statement of the list",
	Promise: TestedOnly, Order: 0, Saved: Share{Lo: 0.4, Hi: 0.98}, Of: OfStatements,
	find: findTestsPerRow,
}

// findTestsPerRow finds loops that test each row of a list by a statement about the same
// row, and moves the test into the statement of the list.
func findTestsPerRow(r *reporter) error {
	o := &overreads{r: r, x: indexOf(r.pass), sql: r.pass.ResultOf[sqlcall.Analyzer].(*sqlcall.Result), facts: r.facts, done: map[*types.Var]bool{}}
	for _, c := range o.sql.Calls {
		if c.Op != sqlcall.Get || c.Loop == nil || leftAlone(r.pass, c) {
			continue
		}
		if t := o.rowTest(c); t != nil {
			if p, ok := t.place(); ok {
				r.report(p)
			}
		}
	}
	return nil
}

// A rowTest is a loop over the rows of a list that keeps the rows for which a
// statement about the same row finds it.
type rowTest struct {
	*overreads
	rd    *reading // the list
	s     *scan    // its loop
	test  *sqlcall.Call
	sent  *sqlcall.Call // the test as the source has it
	shape *shape        // of the test
	out   *types.Var
	still quietness
	// spliced are the arguments of the test that are put into its text as SQL.
	spliced map[int]bool
	// parts are those of them that go into the text of the list's statement.
	parts []string
}

// rowTest returns the test that a statement in a loop is; nil for another one.
func (o *overreads) rowTest(c *sqlcall.Call) *rowTest {
	loop, ok := c.Loop.(*ast.RangeStmt)
	if !ok || len(c.Dests) != 1 {
		return nil
	}
	t := &rowTest{overreads: o, sent: c, still: quietness{pass: o.x.pass, calls: o.sql}}
	if t.test, t.spliced = o.withSplices(c); t.test == nil {
		return nil
	}
	t.shape = shapeOf(t.test)
	for _, list := range o.sql.Calls {
		if list.Op == sqlcall.Select && list.Func == c.Func && list.Expr.End() < loop.Pos() {
			if rd := o.reading(list); rd != nil && rd.rows == o.x.variable(loop.X) {
				t.rd = rd
			}
		}
	}
	if t.shape == nil || t.rd == nil || len(t.rd.calls) != 1 {
		return nil
	}
	if t.s = o.scanOf(t.rd); t.s == nil || t.s.loop != ast.Stmt(loop) || !t.sameRows() || !t.keepsFound() {
		return nil
	}
	return t
}

// list is the statement of the list.
func (t *rowTest) list() *shape { return t.rd.shapes[0] }

// sameRows reports whether both statements return the same columns of one table into
// the same type.
func (t *rowTest) sameRows() bool {
	rows, ok := t.rd.rows.Type().Underlying().(*types.Slice)
	found := localVar(t.x.pass.TypesInfo, t.test.Dests[0])
	if !ok || found == nil || !within(posNode(found.Pos()), t.s.loop) || !types.Identical(rows.Elem(), found.Type()) {
		return false
	}
	return t.shape.table == t.list().table && t.shape.order < 0 && t.shape.where >= 0 &&
		t.list().selected() == t.shape.selected() && t.list().plainTable() && t.shape.plainTable()
}

// selected is the list of columns as one text.
func (s *shape) selected() string {
	var words []string
	for _, t := range s.tokens[1:sqltext.Find(s.tokens, 1, "FROM")] {
		words = append(words, strings.ToLower(t.Name()))
	}
	return strings.Join(words, " ")
}

// plainTable reports whether the table has no alias, so that bare names are its
// columns.
func (s *shape) plainTable() bool {
	from, end := sqltext.Find(s.tokens, 1, "FROM"), s.end
	if s.where >= 0 {
		end = s.where
	}
	return end == from+2
}

// keepsFound reports whether the body of the loop computes arguments, sends the
// test, skips the row if it is not found, leaves the function on an error, and
// appends the row otherwise.
func (t *rowTest) keepsFound() bool {
	body := t.s.body
	at := slices.IndexFunc(body, func(s ast.Stmt) bool { return within(t.test.Expr, s) })
	if at < 0 {
		return false
	}
	own := func(v *types.Var) bool { return within(posNode(v.Pos()), t.s.loop) }
	for _, s := range body[:at] {
		if !t.x.purity().pure(s, own, mostCalls) || t.returnsInside(s) || jumps(s) {
			return false
		}
	}
	checks, last := body[at:len(body)-1], body[len(body)-1]
	if inElse, ok := last.(*ast.IfStmt); ok && inElse.Else != nil {
		checks, last = t.withoutElse(body[at:], inElse)
	}
	if len(checks) == 0 || last == nil || !t.checked(checks) {
		return false
	}
	if t.out = t.appended(t.s); t.out == nil {
		return false
	}
	return t.appendsRow(last)
}

// withoutElse takes the statement that appends the row out of the else of the last check:
//
//	if err != nil { …; return } else { out = append(out, found) }
func (t *rowTest) withoutElse(stmts []ast.Stmt, check *ast.IfStmt) (checks []ast.Stmt, last ast.Stmt) {
	block, ok := check.Else.(*ast.BlockStmt)
	if !ok || len(block.List) != 1 {
		return nil, nil
	}
	alone := *check
	alone.Else = nil
	checks = append(slices.Clone(stmts[:len(stmts)-1]), &alone)
	return checks, block.List[0]
}

func jumps(n ast.Node) bool { return hasNode[*ast.BranchStmt](n) }

// hasNode reports whether a node is, or contains, a node of a type.
func hasNode[N ast.Node](n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		_, is := n.(N)
		found = found || is
		return !found
	})
	return found
}

// appendsRow reports whether a statement appends the row of the list, or the same
// row as the test found it.
func (t *rowTest) appendsRow(s ast.Stmt) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || t.x.variable(a.Lhs[0]) != t.out {
		return false
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok || !t.isBuiltin(call, "append") || len(call.Args) != 2 {
		return false
	}
	v := t.x.variable(call.Args[1])
	rows, kept := t.rd.rows.Type(), t.out.Type()
	return v != nil && (v == t.s.row || v == localVar(t.x.pass.TypesInfo, t.test.Dests[0])) && types.Identical(rows, kept) &&
		types.Identical(v.Type(), rows.Underlying().(*types.Slice).Elem())
}

// checked reports whether statements send the test, and then skip the row if there
// is none, and leave the function on another error. The forms are
//
//	err := …; if none(err) { continue } else if err != nil { return }
//	err := …; if none(err) { continue }; if err != nil { return }
//	err := …; if err != nil { if none(err) { continue }; return }
//
// and the same with the assignment in the first if.
func (t *rowTest) checked(stmts []ast.Stmt) bool {
	var assign ast.Stmt = stmts[0]
	rest := stmts[1:]
	if i, ok := stmts[0].(*ast.IfStmt); ok {
		assign, rest = i.Init, stmts
	}
	a, ok := assign.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || ast.Unparen(a.Rhs[0]) != ast.Expr(t.test.Expr) {
		return false
	}
	err := t.x.variable(a.Lhs[0])
	if err == nil || len(rest) == 0 || a.Tok != token.DEFINE && !t.setAnew(err) {
		return false
	}
	first, ok := rest[0].(*ast.IfStmt)
	if !ok || rest[0] != stmts[0] && first.Init != nil {
		return false
	}
	if t.failed(first.Cond, err) {
		if t.skipsOrLeaves(first, err) {
			return len(rest) == 1
		}
		return len(rest) == 1 && first.Else == nil && len(first.Body.List) > 1 && t.skipsNone(first.Body.List[0], err) && t.leavesAfter(first.Body.List[1:])
	}
	if !t.none(first.Cond, err) || !onlyContinue(first.Body) {
		return false
	}
	second, inElse := first.Else.(*ast.IfStmt)
	switch {
	case inElse && len(rest) == 1:
	case first.Else == nil && len(rest) == 2:
		if second, ok = rest[1].(*ast.IfStmt); !ok {
			return false
		}
	default:
		return false
	}
	return second.Init == nil && second.Else == nil && t.failed(second.Cond, err) && t.leavesAfter(second.Body.List)
}

// skipsOrLeaves reports whether the body of a check is if none(err) { continue } else { return }.
func (t *rowTest) skipsOrLeaves(check *ast.IfStmt, err *types.Var) bool {
	if check.Else != nil || len(check.Body.List) != 1 {
		return false
	}
	i, ok := check.Body.List[0].(*ast.IfStmt)
	if !ok || i.Init != nil || i.Else == nil || !t.none(i.Cond, err) || !onlyContinue(i.Body) {
		return false
	}
	leaves, ok := i.Else.(*ast.BlockStmt)
	return ok && t.leavesAfter(leaves.List)
}

// setAnew reports whether a variable around the loop, which the test sets, is set again behind
// the loop before anything reads it.
func (t *rowTest) setAnew(err *types.Var) bool {
	fn := t.x.function(t.s.loop)
	if !isLocal(err) || insideLoop(t.x, t.s.loop, fn) || t.x.defs[err] == nil || t.x.function(t.x.defs[err]) != fn || !within(t.x.defs[err], bodyOfFunction(fn)) {
		return false
	}
	for _, id := range t.x.uses[err] {
		switch {
		case t.x.function(id) != fn:
			return false
		case id.Pos() < t.s.loop.End():
			continue
		}
		return t.x.isWritten(id) && t.setBy(id) // the first one behind the loop
	}
	return true
}

// setBy reports whether an identifier is set by the statement that names it first, which
// stands in the block of the loop.
func (t *rowTest) setBy(id *ast.Ident) bool {
	a, ok := t.x.parent[id].(*ast.AssignStmt)
	if !ok || t.x.parent[a] != t.x.parent[t.s.loop] {
		return false
	}
	return slices.Contains(a.Lhs, ast.Expr(id))
}

// bodyOfFunction is the body of a function or of a function literal.
func bodyOfFunction(fn ast.Node) ast.Node {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return fn.Body
	case *ast.FuncLit:
		return fn.Body
	}
	return fn
}

// skipsNone reports whether a statement is if none(err) { continue }.
func (t *rowTest) skipsNone(s ast.Stmt, err *types.Var) bool {
	i, ok := s.(*ast.IfStmt)
	return ok && i.Init == nil && i.Else == nil && t.none(i.Cond, err) && onlyContinue(i.Body)
}

// leavesAfter reports whether statements end with a return and have no jump.
func (t *rowTest) leavesAfter(stmts []ast.Stmt) bool {
	if len(stmts) == 0 {
		return false
	}
	return ends(t.x.pass.TypesInfo, &ast.BlockStmt{List: stmts})
}

func onlyContinue(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	s, ok := b.List[0].(*ast.BranchStmt)
	return ok && s.Tok == token.CONTINUE && s.Label == nil
}

// failed reports whether a condition is err != nil.
func (t *rowTest) failed(cond ast.Expr, err *types.Var) bool {
	e := notNil(t.x.pass.TypesInfo, cond)
	return e != nil && t.x.variable(e) == err
}

// none reports whether a condition asks whether an error is sql.ErrNoRows.
func (t *rowTest) none(cond ast.Expr, err *types.Var) bool {
	noRows := func(e ast.Expr) bool {
		v, ok := t.x.named(e).(*types.Var)
		return ok && v.Pkg() != nil && v.Pkg().Path() == "database/sql" && v.Name() == "ErrNoRows"
	}
	switch e := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		return e.Op == token.EQL && t.x.variable(e.X) == err && noRows(e.Y)
	case *ast.CallExpr:
		return isFunc(t.x.callee(e), "errors", "Is") && len(e.Args) == 2 && t.x.variable(e.Args[0]) == err && noRows(e.Args[1])
	}
	return false
}

// place makes the rewrite. The list gets no LIMIT, also where the kept rows are cut to a
// constant size: with an index in the order of the list, the server then reads rows in
// that order until enough satisfy the condition, which may be the whole table.
func (t *rowTest) place() (place, bool) {
	condition, args, ok := t.condition()
	if !ok {
		return place{}, false
	}
	c := t.rd.first
	rw := t.x.rewrite()
	if len(t.parts) > 0 {
		t.splice(rw, condition)
		condition = ""
	}
	if condition != "" {
		rw.statement(c, t.list().and(condition), args...)
	} else if len(args) > 0 {
		rw.arguments(c, args)
	}
	rw.replace(t.s.loop, fmt.Sprintf("%s = append(%s, %s...)", t.out.Name(), t.out.Name(), t.rd.rows.Name()))
	fix, ok := rw.fix("test the rows in the statement of the list")
	return place{node: t.test.Expr, statements: []string{t.sent.SQL(), c.SQL()}, what: "each row of a list is tested by a statement of its own",
		how: "add the condition to the statement of the list", proof: Tested, promise: TestedOnly, fixes: fix1(fix)}, ok
}

// condition is the test as a condition on the rows of the list, with the source of
// its arguments: the test without the comparison that finds the row.
func (t *rowTest) condition() (condition string, args []string, ok bool) {
	var parts []string
	keys, arg := 0, 0
	where := t.shape.tokens[t.shape.where+1 : t.shape.end]
	for _, part := range conjuncts(where) {
		first := arg
		arg += sqltext.Placeholders(part)
		if t.isKey(part, first) {
			keys++
			continue
		}
		text, more, ok := t.moved(part, first)
		if !ok {
			return "", nil, false
		}
		parts, args = append(parts, text), append(args, more...)
	}
	return strings.Join(parts, " "+sqltext.Like(t.shape.tokens, "AND")+" "), args, keys == 1 && len(parts) > 0
}

// conjuncts splits a condition at its ANDs; nil if it has another operator between
// conditions.
func conjuncts(tokens []sqltext.Token) (out [][]sqltext.Token) {
	from := 0
	for i, t := range tokens {
		if t.Depth > 0 {
			continue
		}
		if t.Is("OR", "XOR", "NOT", "BETWEEN", "CASE") || t.Text == "||" || t.Text == "!" {
			return nil
		}
		if t.Is("AND") {
			out = append(out, tokens[from:i])
			from = i + 1
		}
	}
	out = append(out, tokens[from:])
	if slices.ContainsFunc(out, func(p []sqltext.Token) bool { return len(p) == 0 }) {
		return nil
	}
	return out
}

// isKey reports whether a part compares a unique column with the same column of the
// row; arg is the position of its argument.
func (t *rowTest) isKey(part []sqltext.Token, arg int) bool {
	if len(part) != 3 || part[0].Kind != sqltext.Word && part[0].Kind != sqltext.Quoted || part[1].Text != "=" || part[2].Kind != sqltext.Placeholder {
		return false
	}
	name := strings.ToLower(part[0].Name())
	column, ok := t.columnOf(t.s, t.test.Args[arg])
	return ok && strings.EqualFold(column, name) && t.facts.unique(t.shape.table, []string{name})
}

// moved is a part of the test as a part of the list's statement. Values of the row
// become expressions over its columns; the other arguments must be known before the
// list is read.
func (t *rowTest) moved(part []sqltext.Token, arg int) (text string, args []string, ok bool) {
	start := part[0].Start
	sql := t.shape.text.SQL
	for _, token := range part {
		if token.Kind != sqltext.Placeholder {
			continue
		}
		e := t.test.Args[arg]
		arg++
		text += sql[start:token.Start]
		start = token.End
		if t.spliced[arg-1] {
			in, ok := t.splicedText(e)
			if !ok || token.Depth == 0 { // outside of parentheses, an OR in it would reach further
				return "", nil, false
			}
			text += in
			continue
		}
		if in, ok := t.expression(e); ok {
			text += in
			continue
		}
		if !t.before(e) {
			return "", nil, false
		}
		text += "?"
		args = append(args, t.x.text(e))
	}
	return text + sql[start:part[len(part)-1].End], args, true
}

// before reports whether an argument has the same value before the list is read: it
// computes from variables that are set before and not in the loop.
func (t *rowTest) before(e ast.Expr) bool {
	if !t.still.quiet(e) {
		return false
	}
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent {
			return ok
		}
		if v, isVar := t.x.pass.TypesInfo.Uses[id].(*types.Var); isVar && !v.IsField() {
			ok = ok && t.untouched(t.rd, t.s, v, false)
		}
		return ok
	})
	return ok
}
