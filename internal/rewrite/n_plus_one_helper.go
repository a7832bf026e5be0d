package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A getter is a function that reads one row by a unique key and returns it:
//
//	func find(ctx context.Context, db sqlx.ExtContext, id string) (*Row, error) {
//		r := new(Row)
//		if err := sqlx.GetContext(ctx, db, r, "SELECT * FROM t WHERE id = ?", id); err != nil {
//			return nil, err
//		}
//		return r, nil
//	}
type getter struct {
	call        *sqlcall.Call
	s           *statement
	key, handle int // positions of the parameters
	context     int // -1 without one
	row         types.Type
	pointer     bool   // it returns *row
	field       string // of the row, holds the key
	in          [2]int // tokens "=" and "?" of the key
}

// getterOf reads the declaration of a function as a getter.
func (l *perElement) getterOf(d *ast.FuncDecl) (*getter, bool) {
	if d == nil || d.Body == nil || !l.needs(d.Recv == nil && len(d.Body.List) >= 3, d, "%s is a method, or does not declare, read and return one row", d.Name.Name) {
		return nil, false
	}
	calls := l.calls.Within(d)
	if !l.needs(len(calls) == 1 && calls[0].Op == sqlcall.Get && calls[0].Text != nil && calls[0].Text.Holes == 0 && !calls[0].Text.Expanded &&
		!calls[0].Named && !calls[0].Spread && len(calls[0].Args) == 1 && throughSqlx(calls[0]), d, "%s does not send one whole statement with one argument by Get of sqlx", d.Name.Name) {
		return nil, false
	}
	g := &getter{call: calls[0], context: -1}
	var err error
	if g.s, err = parse(g.call.SQL()); err != nil || g.s.selects() == nil || sqltext.Locks(g.s.tokens) || !sqltext.Marked(g.s.tokens) || sqltext.Placeholders(g.s.tokens) != 1 {
		return nil, l.no(g.call.Expr, "the statement is no SELECT with one ?, or locks its rows")
	}
	return g, l.needs(g.parameters(l.pass, d), d, "%s has parameters that are not the key, the database or the context of its statement", d.Name.Name) &&
		l.needs(g.body(l.pass, d), d, "%s does more than declare a row, read it, return on an error and return the row", d.Name.Name) &&
		l.needs(g.byKey(l), g.call.Expr, "the statement does not read one row of one table by a unique key, an integer or a text, that the row has")
}

// parameters finds the parameters that the query uses.
func (g *getter) parameters(pass *analysis.Pass, d *ast.FuncDecl) bool {
	at := map[types.Object]int{}
	n := 0
	for _, field := range d.Type.Params.List {
		for _, name := range field.Names {
			at[pass.TypesInfo.Defs[name]] = n
			n++
		}
	}
	find := func(e ast.Expr) (int, bool) {
		id, ok := ast.Unparen(e).(*ast.Ident)
		if !ok {
			return 0, false
		}
		i, ok := at[pass.TypesInfo.Uses[id]]
		return i, ok
	}
	var ok1, ok2 bool
	g.key, ok1 = find(g.call.Args[0])
	g.handle, ok2 = find(g.call.Handle.Expr)
	if g.call.Context != nil {
		i, ok := find(g.call.Context)
		if !ok {
			return false
		}
		g.context = i
	}
	used := 2
	if g.context >= 0 {
		used = 3
	}
	return ok1 && ok2 && n == used
}

// body checks that the function declares the row, reads it, returns on an error, and
// returns the row.
func (g *getter) body(pass *analysis.Pass, d *ast.FuncDecl) bool {
	info := pass.TypesInfo
	list := d.Body.List
	v := declaredRow(info, list[0])
	dest := localVar(info, g.call.Dests[0])
	if v == nil || dest != v {
		return false
	}
	g.row = v.Type()
	if p, ok := types.Unalias(g.row).(*types.Pointer); ok {
		g.row, g.pointer = p.Elem(), true
	}
	last, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || len(last.Results) != 2 || !info.Types[last.Results[1]].IsNil() {
		return false
	}
	returned := localVar(info, last.Results[0])
	_, address := ast.Unparen(last.Results[0]).(*ast.UnaryExpr)
	if returned != v || address && g.pointer {
		return false
	}
	g.pointer = g.pointer || address
	check, ok := list[len(list)-2].(*ast.IfStmt)
	if !ok || check.Else != nil || !ends(info, check.Body) {
		return false
	}
	b, ok := check.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ || !info.Types[b.Y].IsNil() {
		return false
	}
	assign := check.Init
	switch len(list) {
	case 3:
	case 4:
		if assign != nil {
			return false
		}
		assign = list[1]
	default:
		return false
	}
	a, ok := assign.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Rhs[0] != g.call.Expr {
		return false
	}
	x, ok1 := b.X.(*ast.Ident)
	id, ok2 := a.Lhs[0].(*ast.Ident)
	return ok1 && ok2 && info.ObjectOf(x) == info.ObjectOf(id)
}

// declaredRow is the variable that a statement declares as an empty row, or as a
// pointer to one; nil for others.
func declaredRow(info *types.Info, s ast.Stmt) *types.Var {
	switch s := s.(type) {
	case *ast.DeclStmt:
		g, ok := s.Decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR || len(g.Specs) != 1 {
			return nil
		}
		spec, ok := g.Specs[0].(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || len(spec.Values) > 0 {
			return nil
		}
		v, _ := info.Defs[spec.Names[0]].(*types.Var)
		return v
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
			return nil
		}
		value := ast.Unparen(s.Rhs[0])
		if u, ok := value.(*ast.UnaryExpr); ok && u.Op == token.AND {
			value = u.X
		}
		switch e := value.(type) {
		case *ast.CompositeLit:
			if len(e.Elts) > 0 {
				return nil
			}
		case *ast.CallExpr:
			if !isBuiltin(info, e, "new") {
				return nil
			}
		default:
			return nil
		}
		id, ok := s.Lhs[0].(*ast.Ident)
		if !ok {
			return nil
		}
		v, _ := info.Defs[id].(*types.Var)
		return v
	}
	return nil
}

// byKey checks that the query reads the row of a unique key, and that the row has it.
func (g *getter) byKey(l *perElement) bool {
	sel := g.s.selects()
	t, ok := onlyTable(sel)
	row, isStruct := g.row.Underlying().(*types.Struct)
	if !ok || !isStruct || namedOf(g.row) == nil || sel.Limit != nil || sel.GroupBy != nil || sel.Distinct || sel.OrderBy != nil || aggregates(sel) {
		return false
	}
	mark := slices.IndexFunc(g.s.tokens, func(t sqltext.Token) bool { return t.Kind == sqltext.Placeholder })
	if mark < 2 || g.s.tokens[mark-1].Text != "=" || g.s.tokens[mark].Depth != 0 || mark+1 < len(g.s.tokens) && g.s.tokens[mark+1].Text != ";" {
		return false
	}
	column := strings.ToLower(g.s.tokens[mark-2].Name())
	if keys := equalities(sel.Where); len(keys) != 1 || keys[0] != column || !l.facts.unique(t.name, keys) || !selectsColumn(sel, column) {
		return false
	}
	g.in = [2]int{mark - 1, mark}
	columns, tagged := columnsOf(row)
	basic, isBasic := l.pass.TypesInfo.TypeOf(g.call.Args[0]).Underlying().(*types.Basic)
	if !tagged || !isBasic || basic.Info()&(types.IsInteger|types.IsString) == 0 {
		return false
	}
	for i, name := range columns {
		if strings.EqualFold(name, column) && types.Identical(row.Field(i).Type(), l.pass.TypesInfo.TypeOf(g.call.Args[0])) {
			g.field = row.Field(i).Name()
			return true
		}
	}
	return false
}

// prefetch is the rewrite of a call of a getter in a loop: one statement reads the rows
// of all elements before the loop. A row that it did not find is read by itself, so
// that a missing one, and every error, is handled as before.
func (l *perElement) prefetch(call *ast.CallExpr, fn *types.Func, around ast.Stmt) ([]analysis.TextEdit, bool) {
	loop, ok := around.(*ast.RangeStmt)
	g, isGetter := l.getterOf(l.calls.Decl(fn))
	if !isGetter || !l.needs(ok, around, "the loop has no range whose elements are known before it") || !l.needs(!call.Ellipsis.IsValid(), call, "the arguments are a list") {
		return nil, false
	}
	b := &batch{perElement: l, call: g.call, s: g.s, loop: loop}
	if !l.needs(b.iterates(), loop, "the loop goes over what cannot be gone over twice, as a call or a channel") ||
		!l.needs(l.readsOnly(loop.Body, fn), loop.Body, "the loop does more than read: what it calls may change the rows") {
		return nil, false
	}
	for i, a := range call.Args {
		if !l.repeatable(a) || !b.unset(a) || i != g.key && l.varies(a, loop) || i == g.key && (!l.varies(a, loop) || l.varies(a, loop.Body)) {
			return nil, l.no(a, "the key is not of the element alone, or another argument varies")
		}
		if i == g.key && guarded(l.pass, a, call, loop) {
			return nil, l.no(a, "the key is behind a pointer that only some rounds may follow")
		}
	}
	return l.prefetchEdits(call, g, b)
}

// readsOnly reports whether a body only reads: it sends nothing but queries, and calls
// the getter.
func (l *perElement) readsOnly(body *ast.BlockStmt, fn *types.Func) bool {
	return onlyReads(body, l.calls, func(call *ast.CallExpr) bool {
		if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && l.pass.TypesInfo.Uses[id] == fn {
			return true
		}
		return chained(l.calls, call) || l.still.quietCall(call) || contextual(l.pass, call)
	})
}

// prefetchEdits writes the rewrite.
func (l *perElement) prefetchEdits(call *ast.CallExpr, g *getter, b *batch) ([]analysis.TextEdit, bool) {
	c, ok := l.aheadCode(call, g, b.loop, "keys", "chunk", "args", "rest", "i")
	if !l.needs(ok, call, "the call is not the value of an assignment that the fix can keep") {
		return nil, false
	}
	b.call = &sqlcall.Call{Args: []ast.Expr{call.Args[g.key]}} // header names the variables of the key
	names := c.names
	eq, mark := g.s.tokens[g.in[0]], g.s.tokens[g.in[1]]
	query := fmt.Sprintf("%s+strings.Repeat(\", ?\", len(%s)-1)+%s", goString(g.s.sql[:eq.Start]+sqltext.Like(g.s.tokens, "IN")+" (?"), names["chunk"], goString(")"+g.s.sql[mark.End:]))
	lines := []string{
		fmt.Sprintf("// One statement reads the rows of up to %d elements. A row that it does not find is read by itself.", inRows),
		fmt.Sprintf("var %s []%s", names["keys"], c.key),
		b.header(c.source) + " {",
		fmt.Sprintf("%s = append(%s, %s)", names["keys"], names["keys"], c.text(call.Args[g.key])),
		"}",
	}
	at := b.loop.Pos()
	made := fmt.Sprintf("%s := make(map[%s]%s, len(%s))", names["byKey"], c.key, c.row, names["keys"])
	if goAtLeast(l.pass, at, "go1.23") {
		lines = append(lines, fmt.Sprintf("slices.Sort(%s)", names["keys"]), made)
		lines = append(lines, chunkHead(l.pass, at, names["chunk"], "", fmt.Sprintf("slices.Compact(%s)", names["keys"]), fmt.Sprint(inRows))...)
	} else {
		lines = append(append(lines, uniqueKeys(l.pass, at, names["keys"], names["key"], names["i"], names["rest"])...), made)
		lines = append(lines, chunkHead(l.pass, at, names["chunk"], names["rest"], names["keys"], fmt.Sprint(inRows))...)
	}
	lines = append(lines,
		fmt.Sprintf("%s := make([]%s, 0, len(%s))", names["args"], anyType(l.pass, at), names["chunk"]),
		fmt.Sprintf("for _, %s := range %s {", names["key"], names["chunk"]),
		fmt.Sprintf("%s = append(%s, %s)", names["args"], names["args"], names["key"]),
		"}",
		fmt.Sprintf("var %s []%s", names["rows"], c.row),
		fmt.Sprintf("if err := %s, %s, %s...); err != nil {", c.send, query, names["args"]),
		"break",
		"}")
	lines = append(append(lines, c.store()...), "}", c.open())
	return c.edits(append(lines, c.find()...)), true
}

// ordinal numbers the loops of a function: "" for the first one, "2" for the second.
func ordinal(pass *analysis.Pass, loop ast.Stmt) string {
	n := 0
	for _, d := range fileOf(pass, loop.Pos()).Decls {
		if d.Pos() > loop.Pos() || loop.Pos() > d.End() {
			continue
		}
		ast.Inspect(d, func(x ast.Node) bool {
			switch x.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				if x.Pos() <= loop.Pos() {
					n++
				}
			}
			return true
		})
	}
	if n <= 1 {
		return ""
	}
	return strconv.Itoa(n)
}
