package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var nPlusOne = Lever{Code: "APP205", Title: "one query per element",
	Line:    "a query runs once per element of a loop",
	Promise: RowOrder, Order: 3, Saved: Share{Lo: 0.3, Hi: 0.9}, Of: OfStatements, Ahead: true, Again: true,
	find: findNPlusOne, whole: perElementOf,
}

// findNPlusOne finds queries that run once per element of a loop.
func findNPlusOne(r *reporter) error {
	l := &perElement{reporter: r, calls: callsOf(r.pass)}
	l.still = quietness{pass: r.pass, calls: l.calls}
	for _, c := range l.calls.Calls {
		if c.Loop != nil && (c.Text != nil || c.Texts != nil) && !leftAlone(r.pass, c) {
			l.visit(c)
		}
	}
	l.helpers()
	l.mapped()
	return nil
}

type perElement struct {
	*reporter
	calls *sqlcall.Result
	still quietness
	// home has the package of the module that declares a function, nil for another function. It is
	// nil where one package is looked at.
	home func(*types.Func) *perElement
	// reorders: the fix in the making reads the first of perhaps several rows that no
	// ORDER BY tells apart.
	reorders bool
	// locking: the fix in the making locks the rows of later elements before it comes to them.
	locking bool
}

// weakened is the promise that the fix in the making weakens, none or otherwise.
func (l *perElement) weakened(otherwise Promise) Promise {
	switch {
	case l.locking:
		return Isolation
	case l.reorders:
		return RowOrder
	}
	return otherwise
}

func (l *perElement) visit(c *sqlcall.Call) {
	if c.Op == sqlcall.Exec || c.Op == sqlcall.Prepare || !slices.ContainsFunc(c.Args, func(a ast.Expr) bool { return l.varies(a, c.Loop) }) {
		return
	}
	p := place{node: c.Expr, statements: textsOf(c), what: "one query is sent per element of the loop", how: "read the rows of all elements by one statement before the loop"}
	s, err := parse(p.statements[0])
	if err != nil {
		if c.All() != nil && readsRows(p.statements[0]) {
			l.no(c.Expr, textUnread)
			l.report(p)
		}
		return
	}
	if s.selects() == nil && c.All() != nil {
		return
	}
	if b, ok := l.batch(c, s); ok {
		l.no(c.Expr, nameTaken)
		if edits, ok := b.edits(); ok && !hidden(l.pass, suggested("", edits)[0]) {
			p.fixes = suggested("Read the rows before the loop", edits)
			if b.multi && s.selects().OrderBy == nil {
				p.promise = RowOrder
			}
		}
	}
	if len(p.fixes) == 0 {
		l.reorders, l.locking = false, false
		if edits, ok := l.readInline(c); ok {
			p.fixes = suggested("Read the rows of the next elements", edits)
			if c.Op == sqlcall.Select && s.selects().OrderBy == nil {
				l.reorders = true
			}
			p.promise = l.weakened(NoPromise)
		} else {
			l.readFirst(&p, c.Expr, c.Loop)
		}
	}
	l.report(p)
}

// helpers reports calls in a loop of functions of this package that send a query
// with an argument.
func (l *perElement) helpers() {
	for c := range rootOf(l.pass).Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		fn, ok := typeutil.Callee(l.pass.TypesInfo, call).(*types.Func)
		if !ok || l.calls.At(call) != nil || l.calls.Decl(fn) == nil || skipped(l.pass, call.Pos()) {
			continue
		}
		loop := loopAround(c, call)
		if loop == nil || !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return l.varies(a, loop) }) {
			continue
		}
		for _, inner := range l.calls.Within(l.calls.Decl(fn)) {
			if inner.Loop == nil && inner.Op != sqlcall.Exec && inner.Op != sqlcall.Prepare && len(inner.Args) > 0 && !inner.Handle.Faked && (inner.Text != nil && readsRows(inner.SQL()) || inner.Texts != nil && onlySelects(inner)) {
				p := place{node: call, statements: textsOf(inner), what: "each element of the loop calls " + fn.Name() + ", which sends a query",
					how: "read the rows of all elements by one statement before the loop"}
				l.reorders, l.locking = false, false
				if edits, ok := l.prefetch(call, fn, loop); ok {
					p.fixes = suggested("Read the rows before the loop", edits)
				} else if edits, ok := l.readAhead(call, fn, loop); ok {
					p.fixes, p.promise = suggested("Read the rows of the next elements", edits), l.weakened(NoPromise)
				} else if p.why = l.refused; true {
					if edits, ok := l.lookAhead(call, fn, loop); ok {
						p.fixes, p.how, p.proof = suggested("Read the rows ahead", edits), fmt.Sprintf("read up to %d rows by one statement once %d were looked up", aheadRows, aheadAfter), Tested
					} else {
						l.readFirst(&p, call, loop)
					}
				}
				l.report(p)
				break
			}
		}
	}
}

// textsOf are the texts of a call, also where parts of it are not known.
func textsOf(c *sqlcall.Call) []string {
	if all := c.All(); all != nil {
		return all
	}
	return []string{c.SQL()}
}

// readsRows reports whether a statement begins as one that only reads: others may return rows
// that they have written.
func readsRows(sql string) bool {
	tokens, _ := sqltext.Unknown.Tokens(sql)
	for _, t := range tokens {
		if t.Kind != sqltext.Comment && t.Text != "(" {
			return t.Is("SELECT", "WITH") && !slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Is("INSERT", "UPDATE", "DELETE") && !sqltext.Locks(tokens) })
		}
	}
	return false
}

// loopAround is the innermost loop around a call within its function.
func loopAround(c inspector.Cursor, call *ast.CallExpr) ast.Stmt {
	for up := range c.Enclosing((*ast.RangeStmt)(nil), (*ast.ForStmt)(nil), (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch n := up.Node().(type) {
		case *ast.RangeStmt:
			if n.Body.Pos() < call.Pos() && call.End() < n.Body.End() {
				return n
			}
		case *ast.ForStmt:
			if n.Body.Pos() < call.Pos() && call.End() < n.Body.End() {
				return n
			}
		default:
			return nil
		}
	}
	return nil
}

// varies reports whether an expression names a variable that a loop declares.
func (l *perElement) varies(e ast.Node, loop ast.Stmt) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, isVar := l.pass.TypesInfo.Uses[id].(*types.Var)
			found = found || isVar && !v.IsField() && loop.Pos() <= v.Pos() && v.Pos() < loop.End()
		}
		return !found
	})
	return found
}

// A batch is a query of a loop with all that a rewrite needs.
type batch struct {
	*perElement
	call  *sqlcall.Call
	s     *statement
	loop  *ast.RangeStmt
	key   int        // position of the argument that varies
	keyT  types.Type // its type
	multi bool       // Select: several rows for each element
	row   types.Type // of one row
	field string     // of the row, holds the key: the rows are read with IN
	in    [2]int     // tokens "=" and "?" of the key
	// but are variables that a round defines once: that is no change of them.
	but []*types.Var
	// list is the name that what the loop goes over gets, if it is a call.
	list string
}

// batch checks that the rewrite keeps the meaning.
func (l *perElement) batch(c *sqlcall.Call, s *statement) (*batch, bool) {
	loop, ok := c.Loop.(*ast.RangeStmt)
	b := &batch{perElement: l, call: c, s: s, loop: loop, multi: c.Op == sqlcall.Select}
	if !l.needs(ok, c.Loop, "the loop has no range whose elements are known before it") || !l.needs(
		(c.Op == sqlcall.Get || c.Op == sqlcall.Select) && throughSqlx(c), c.Expr, "the rows are not read by Get or Select of sqlx") || !l.needs(
		!c.Spread && !c.Named && c.QueryArg != nil && c.Handle.Kind != sqlcall.Stmt, c.Expr, "the statement is prepared, or its arguments are named or a list") || !l.needs(
		c.Text != nil && c.Text.Holes == 0 && !c.Text.Expanded, c.Expr, "a part of the statement's text is not known") || !l.needs(
		!c.Text.Bound, c.Expr, "Rebind gives the text the placeholders of its database") || !l.needs(
		s.selects() != nil && !sqltext.Locks(s.tokens), c.Expr, "the statement is no SELECT, or locks its rows") || !l.needs(
		sqltext.Marked(s.tokens) && len(c.Args) == sqltext.Placeholders(s.tokens), c.Expr, "the statement's placeholders are not ?, one for each argument") {
		return nil, false
	}
	return b, l.needs(b.iterates(), loop, "the loop goes over what cannot be gone over twice, as a call or a channel") &&
		l.needs(b.unconditional(), c.Expr, "not every round of the loop sends the statement") &&
		l.needs(b.arguments(), c.Expr, "not exactly one argument varies, an integer or a text of the element that the loop does not set") &&
		l.needs(b.destination(), c.Dests[0], "the row is not read into a new variable of the round, of a named struct type or a plain value") &&
		l.needs(b.strategy(), c.Expr, "the rows are not told apart by a key of the statement, or there may be several for an element") &&
		l.needs(b.bodyReads(), loop.Body, "the loop does more than read: what it calls may change the rows")
}

// iterates reports whether the loop goes over a value that can be gone over twice,
// and that the loop does not change.
func (b *batch) iterates() bool {
	switch b.pass.TypesInfo.TypeOf(b.loop.X).Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map, *types.Basic:
	default:
		return false
	}
	if b.loop.Tok != token.DEFINE {
		return false
	}
	if _, labeled := parentOf(b.pass, b.loop).(*ast.LabeledStmt); labeled {
		return false
	}
	if _, isCall := ast.Unparen(b.loop.X).(*ast.CallExpr); isCall {
		return b.list != ""
	}
	return b.repeatable(b.loop.X)
}

// unconditional reports whether every round that gets to the statement runs it:
// it stands at the top of the body.
func (b *batch) unconditional() bool {
	for c := range b.call.Cursor.Enclosing() {
		switch n := c.Node().(type) {
		case *ast.CallExpr, *ast.AssignStmt, *ast.ExprStmt, *ast.ParenExpr, *ast.BinaryExpr:
		case *ast.IfStmt:
			if n.Body.Pos() <= b.call.Pos() && b.call.Pos() < n.Body.End() || n.Else != nil && n.Else.Pos() <= b.call.Pos() && b.call.Pos() < n.Else.End() {
				return false
			}
		case *ast.BlockStmt:
			return n == b.loop.Body
		default:
			return false
		}
	}
	return false
}

// arguments finds the one argument that varies. It depends on the element only, and
// the loop does not set it.
func (b *batch) arguments() bool {
	b.key = -1
	info := b.pass.TypesInfo
	for i, a := range b.call.Args {
		if !b.varies(a, b.loop) {
			if !b.unset(a) || !b.repeatable(a) {
				return false
			}
			continue
		}
		if b.key >= 0 || b.varies(a, bodyOf(b.loop)) || !b.repeatable(a) || !b.unset(a) || guarded(b.pass, a, b.call.Expr, b.loop) {
			return false
		}
		b.key, b.keyT = i, info.TypeOf(a)
	}
	if b.key < 0 {
		return false
	}
	basic, ok := b.keyT.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsInteger|types.IsString) != 0 && b.unset(b.call.Handle.Expr) && !b.varies(b.call.Handle.Expr, b.loop) &&
		(b.call.Context == nil || !b.varies(b.call.Context, b.loop))
}

func bodyOf(loop *ast.RangeStmt) ast.Stmt { return loop.Body }

// unset reports whether the loop's body sets no part of an expression.
func (b *batch) unset(e ast.Expr) bool { return b.unsetIn(e, b.loop.Body) }

// unsetIn reports whether a node sets no part of an expression.
func (b *batch) unsetIn(e ast.Expr, in ast.Node) bool {
	text := types.ExprString(e)
	ok := true
	set := func(lhs ast.Expr) {
		id := rootIdent(lhs)
		if id == nil || !b.mentions(e, b.pass.TypesInfo.ObjectOf(id)) {
			return
		}
		if v, isVar := b.pass.TypesInfo.ObjectOf(id).(*types.Var); isVar && slices.Contains(b.but, v) {
			return
		}
		l := types.ExprString(lhs)
		if _, whole := ast.Unparen(lhs).(*ast.Ident); whole || text == l || strings.HasPrefix(text, l+".") || strings.HasPrefix(text, l+"[") || strings.Contains(text, "("+l) {
			ok = false
		}
	}
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				set(lhs)
			}
		case *ast.IncDecStmt:
			set(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND && !b.readThrough(n) {
				set(n.X)
			}
		}
		return ok
	})
	return ok
}

// destination reports whether the destination is a new variable of each round: the address
// of a value, or a pointer to a new one. A struct is empty until the row is read, since a
// whole row takes its place.
func (b *batch) destination() bool {
	v := localVar(b.pass.TypesInfo, b.call.Dests[0])
	if v == nil || v.Pos() < b.loop.Body.Pos() || v.Pos() > b.loop.Body.End() {
		return false
	}
	u, isAddress := ast.Unparen(b.call.Dests[0]).(*ast.UnaryExpr)
	b.row = v.Type()
	if p, isPointer := types.Unalias(b.row).(*types.Pointer); isPointer && !isAddress && !b.multi {
		b.row = p.Elem()
		if _, isStruct := b.row.Underlying().(*types.Struct); !isStruct || !b.emptyUntil(v) {
			return false
		}
	} else if !isAddress || u.Op != token.AND {
		return false
	}
	if b.multi {
		s, ok := b.row.Underlying().(*types.Slice)
		if !ok {
			return false
		}
		b.row = s.Elem()
	}
	switch t := b.row.Underlying().(type) {
	case *types.Struct:
		return namedOf(b.row) != nil && rowStruct(b.row, t) && (b.multi || b.emptyUntil(v))
	case *types.Basic:
		return !b.multi
	}
	return false
}

// emptyUntil reports whether a variable of the loop's body is declared as an empty row, and
// nothing names it before the statement.
func (b *batch) emptyUntil(v *types.Var) bool {
	declared := false
	ast.Inspect(b.loop.Body, func(n ast.Node) bool {
		if s, ok := n.(ast.Stmt); ok {
			declared = declared || declaredRow(b.pass.TypesInfo, s) == v
		}
		return !declared
	})
	for _, use := range usesOf(b.pass, v) {
		declared = declared && use.Node().Pos() >= b.call.Expr.Pos()
	}
	return declared
}

// strategy decides how the rows of all elements are read: with IN where the rows
// show their keys, else with one SELECT per element in a UNION ALL.
func (b *batch) strategy() bool {
	sel := b.s.selects()
	one := b.facts.atMostOne(sel) || limitOne(sel)
	if !b.multi && !one {
		return false
	}
	if b.byKey() {
		return true
	}
	return one && sel.From != nil && !sel.Distinct
}

// limitOne reports whether a SELECT has LIMIT 1.
func limitOne(sel *tidb.SelectStmt) bool {
	if sel.Limit == nil || sel.Limit.Offset != nil {
		return false
	}
	v, ok := sel.Limit.Count.(*test_driver.ValueExpr)
	return ok && v.GetInt64() == 1
}

// byKey reports whether IN can take the place of = : the key is an integer, and a
// field of the row has it. Text may be equal in the database and differ in Go.
func (b *batch) byKey() bool {
	sel := b.s.selects()
	t, ok := onlyTable(sel)
	basic := b.keyT.Underlying().(*types.Basic)
	row, isStruct := b.row.Underlying().(*types.Struct)
	if !ok || !isStruct || basic.Info()&types.IsInteger == 0 || sel.Limit != nil || sel.GroupBy != nil || sel.Distinct || aggregates(sel) {
		return false
	}
	column, found := b.keyColumn(sel)
	if !found || !integer(b.facts.Tables[t.name].Columns[column].Type) || !selectsColumn(sel, column) {
		return false
	}
	columns, _ := columnsOf(row)
	for i, name := range columns {
		if strings.EqualFold(name, column) && types.Identical(row.Field(i).Type(), b.keyT) {
			b.field = row.Field(i).Name()
			return true
		}
	}
	return false
}

// integer reports whether a column type is an integer of SQL.
func integer(columnType string) bool {
	kind, _, _ := strings.Cut(strings.TrimSuffix(columnType, " unsigned"), "(")
	return slices.Contains([]string{"int", "integer", "bigint", "smallint", "mediumint", "tinyint"}, kind)
}

// keyColumn is the column that is compared with the argument that varies.
func (b *batch) keyColumn(sel *tidb.SelectStmt) (string, bool) {
	n := -1
	for i, t := range b.s.tokens {
		if t.Kind != sqltext.Placeholder {
			continue
		}
		if n++; n != b.key {
			continue
		}
		if i < 2 || b.s.tokens[i-1].Text != "=" || b.s.tokens[i-2].Kind != sqltext.Word && b.s.tokens[i-2].Kind != sqltext.Quoted {
			return "", false
		}
		if i+1 < len(b.s.tokens) && !b.s.tokens[i+1].Is("AND", "ORDER") && b.s.tokens[i+1].Text != ";" {
			return "", false
		}
		b.in = [2]int{i - 1, i}
		name := strings.ToLower(b.s.tokens[i-2].Name())
		return name, b.s.tokens[i].Depth == 0 && slices.Contains(equalities(sel.Where), name)
	}
	return "", false
}

// selectsColumn reports whether a SELECT returns a column under its name.
func selectsColumn(sel *tidb.SelectStmt, column string) bool {
	for _, f := range sel.Fields.Fields {
		if f.WildCard != nil {
			return true
		}
		if col, ok := f.Expr.(*tidb.ColumnNameExpr); ok && col.Name.Name.L == column && (f.AsName.L == "" || f.AsName.L == column) {
			return true
		}
	}
	return false
}

// bodyReads reports whether the loop only reads: nothing in it can change what the
// query returns.
func (b *batch) bodyReads() bool {
	return onlyReads(b.loop.Body, b.calls, func(call *ast.CallExpr) bool {
		return chained(b.calls, call) || b.still.quietCall(call) || contextual(b.pass, call)
	})
}

// onlyReads reports whether a body sends nothing but queries and makes no other call
// than those that quiet permits. What runs on the way out of the function is of no
// interest.
func onlyReads(body *ast.BlockStmt, calls *sqlcall.Result, quiet func(*ast.CallExpr) bool) bool {
	ok := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			return false
		case *ast.BlockStmt:
			return ok && (n == body || !leaves(calls.Info(), n))
		case *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt, *ast.FuncLit:
			ok = false
		case *ast.CallExpr:
			if c := calls.At(n); c != nil {
				ok = ok && onlySelects(c)
			} else {
				ok = ok && quiet(n)
			}
		}
		return ok
	})
	return ok
}

// onlySelects reports whether a call sends SELECTs, whichever of its texts it has.
func onlySelects(c *sqlcall.Call) bool {
	texts := c.All()
	return c.Op != sqlcall.Exec && len(texts) > 0 && !slices.ContainsFunc(texts, func(sql string) bool {
		read, err := parse(sql)
		return err != nil || read.selects() == nil
	})
}

// leaves reports whether a block is run once at most in a loop, on the way out of the
// function.
func leaves(info *types.Info, b *ast.BlockStmt) bool { return len(b.List) > 0 && ends(info, b) }

// chained reports whether a call is the Scan of a query.
func chained(calls *sqlcall.Result, n *ast.CallExpr) bool {
	return slices.ContainsFunc(calls.Calls, func(c *sqlcall.Call) bool { return c.Scan == n })
}
