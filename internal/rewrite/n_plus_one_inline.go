package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// readInline is the rewrite of a query that a loop sends by itself: it asks the rows that
// one statement has read for the next elements, and is sent where these have none. So a
// missing row, every error, and rounds that do not get to the query stay as they were.
func (l *perElement) readInline(c *sqlcall.Call) ([]analysis.TextEdit, bool) {
	r := &reader{perElement: l, call: c, multi: c.Op == sqlcall.Select || c.Op == sqlcall.Query, source: newSource(l.pass, c.Pos())}
	if r.source == nil || !r.statement() {
		return nil, false
	}
	header, ok := l.rounds(c.Loop)
	if !ok || !r.elementKey() || !r.inlineDestinations() || !l.harmlessLoop(r, c.Loop) {
		return nil, false
	}
	l.no(c.Expr, nameTaken)
	return r.inlineEdits(header)
}

// elementKey finds the arguments that vary: they depend on the element only. Nothing else
// of the statement does.
func (r *reader) elementKey() bool {
	c, body := r.call, bodyOfLoop(r.call.Loop)
	b := &batch{perElement: r.perElement}
	for i, a := range c.Args {
		a = r.byElement(a, c.Loop)
		if len(c.Args) == 1 && !r.locks && r.varies(a, body) && r.heldRows(a) {
			r.keys = append(r.keys, keyPart{at: i, typ: r.pass.TypesInfo.TypeOf(a), element: a})
			continue
		}
		defs, vars, known := r.definitions(a, c.Expr, c.Loop)
		b.but = vars
		switch varies := r.varies(a, c.Loop); {
		case !r.needs(b.unsetIn(a, body), a, "the loop sets an argument of the statement"):
			return false
		case !varies && !r.needs(r.repeatable(a), a, "an argument of the statement does more than compute"):
			return false
		case varies && !r.needs(r.repeatable(a) && known && r.definedAlike(b, defs, body), a, "an argument of the statement varies, and not by the element alone"):
			return false
		case varies && !r.needs(plainKey(r.pass.TypesInfo.TypeOf(a)), a, "no plain value of the element is an argument of the statement"):
			return false
		case varies && !r.needs(!guarded(r.pass, a, c.Expr, c.Loop), a, "the key is behind a pointer that only some rounds may follow"):
			return false
		case varies:
			r.keys = append(r.keys, keyPart{at: i, typ: r.pass.TypesInfo.TypeOf(a), element: a})
			r.defines = append(r.defines, defs...)
		}
	}
	slices.SortFunc(r.defines, func(a, b *ast.AssignStmt) int { return cmp.Compare(a.Pos(), b.Pos()) })
	r.defines = slices.Compact(r.defines)
	b.but = nil
	for _, e := range []ast.Expr{r.handle().Expr, c.Context} {
		if e != nil && !r.needs(!r.varies(e, c.Loop) && b.unsetIn(e, body) && (r.repeatable(e) || contextual(r.pass, e)), e, "the database or the context of the statement varies") {
			return false
		}
	}
	return r.needs(len(r.keys) > 0, c.Expr, "no plain value of the element is an argument of the statement")
}

// definedAlike reports whether the loop sets nothing that the definitions of a key are made of.
func (r *reader) definedAlike(b *batch, defs []*ast.AssignStmt, body ast.Node) bool {
	return !slices.ContainsFunc(defs, func(d *ast.AssignStmt) bool { return !b.unsetIn(d.Rhs[0], body) })
}

// inlineDestinations finds what the rows are read into: by Scan the types of the values, by
// sqlx a new variable of the round.
func (r *reader) inlineDestinations() bool {
	if r.call.Op == sqlcall.QueryRow || r.listed() {
		return r.destinations()
	}
	d := r.call.Dests[0]
	if !r.needs(throughSqlx(r.call), r.call.Expr, "the rows are not read by Get or Select of sqlx, or by Scan of a QueryRow") {
		return false
	}
	if r.replaced(d) || r.multi && r.newList(d) {
		return true
	}
	loop, ok := r.call.Loop.(*ast.RangeStmt)
	b := &batch{perElement: r.perElement, call: r.call, loop: loop, multi: r.multi}
	if !r.needs(ok && b.destination(), d, "the row is not read into a new variable of the round, of a named struct type or a plain value, or into a struct of whose fields the schema shows each as a column") {
		return false
	}
	r.dests = append(r.dests, b.row)
	return true
}

// newList notes the type of the rows of a destination that is a new list of the round.
func (r *reader) newList(d ast.Expr) bool {
	u, ok := ast.Unparen(d).(*ast.UnaryExpr)
	if !ok || u.Op != token.AND {
		return false
	}
	v := localVar(r.pass.TypesInfo, u.X)
	body := bodyOfLoop(r.call.Loop).(*ast.BlockStmt)
	if v == nil || !isIdent(u.X) || v.Pos() < body.Pos() || v.Pos() > body.End() {
		return false
	}
	list, ok := v.Type().Underlying().(*types.Slice)
	b := &batch{perElement: r.perElement, call: r.call, loop: &ast.RangeStmt{Body: body}}
	return ok && b.emptyUntil(v) && r.row(list.Elem())
}

// isPlain reports whether a type has plain values: numbers, texts, truth values.
func isPlain(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// inlineEdits write the rows' reading before the loop, and the look-up in the place of the
// statement.
func (r *reader) inlineEdits(header ast.Stmt) ([]analysis.TextEdit, bool) {
	c := r.call
	t := &twin{reader: r, file: r.source.file, names: map[string]string{}, anyType: anyType(r.pass, c.Pos()), scans: c.Op == sqlcall.QueryRow || r.listed(), inline: true}
	if over, ok := header.(*ast.RangeStmt); ok {
		_, t.shuffled = r.pass.TypesInfo.TypeOf(over.X).Underlying().(*types.Map)
	}
	taken, nth := namesAround(r.pass, c.Pos()), r.nthCall()
	for _, n := range twinNames {
		t.names[n] = freshOfCall(taken, n, nth)
	}
	t.names["at"] = freshOfCall(taken, "rowOf", nth)
	t.rowsName = r.nameOfRows()
	if !t.types() || !t.statement() || !t.sending() {
		return nil, false
	}
	n := t.names
	lines := []string{
		fmt.Sprintf("// One statement reads the rows of up to %d elements. The loop's own is sent where that one", unionRows),
		"// failed or found no row.",
		fmt.Sprintf("var %s []%s", n["keys"], t.keyType),
	}
	if r.aheadRows == "" {
		lines = append(append(lines, r.headerText(r.source, header, r.elements())+" {"), r.defined()...)
		lines = append(lines,
			fmt.Sprintf("%s = append(%s, %s)", n["keys"], n["keys"], r.elementText(r.source, t.keyType)),
			"}")
	}
	lines = append(append(append(lines, t.state()...), t.reading()...), t.lookup()...)
	lines, head := r.perElement.named(r.source, c.Loop, lines)
	indent := r.source.indent(c.Loop.Pos())
	before := edit(c.Loop.Pos(), c.Loop.Pos(), layOut(lines, indent)+indent)
	if start, _, _ := r.source.wholeLines(c.Loop.Pos(), c.Loop.Pos()); strings.TrimSpace(r.source.text(start, c.Loop.Pos())) == "" {
		before = edit(start, start, indent+layOut(lines, indent))
	}
	from, to := t.sentAt()
	var parts []string
	for _, k := range r.keys {
		parts = append(parts, t.written(c.Args[k.at]))
	}
	edits := append(head, before, edit(from, to, t.lookedUp(keyLiteral(t.keyType, parts))))
	if r.listed() {
		end := sharedIndex(r.pass).topDecl(c.Expr).End()
		_, end, _ = r.source.wholeLines(end, end)
		edits = append(edits, edit(end, end, "\n"+t.rowTypesText()))
	}
	return edits, true
}

// freshOfCall is a name for the nth statement of a function that is not taken, neither in the
// source nor by the rewrite of another statement.
func freshOfCall(taken map[string]bool, name, nth string) string {
	if taken[name+nth] {
		name = camel("ahead", name)
	}
	return freshNumbered(taken, name+nth)
}

// nthCall numbers the statements of a function: "" for the first one, "2" for the second,
// so that their rewrites can be made together.
func (r *reader) nthCall() string {
	for i, c := range r.calls.Within(r.call.Func) {
		if c == r.call && i > 0 {
			return strconv.Itoa(i + 1)
		}
	}
	return ""
}
