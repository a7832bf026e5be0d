package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

var overread = Lever{Code: "APP213", Title: "reads more than it uses",
	Line:    "rows are skipped, cut off, or belong to groups that are not used",
	Promise: TestedOnly, Order: 1, Saved: Share{Lo: 0.3, Hi: 0.95}, Of: OfStatements,
	find: findOverreads,
}

// findOverreads finds statements that read more rows than the code uses: rows that a
// loop skips, rows behind a cut, groups that are thrown away.
func findOverreads(r *reporter) error {
	o := &overreads{r: r, x: indexOf(r.pass), sql: r.pass.ResultOf[sqlcall.Analyzer].(*sqlcall.Result), facts: r.facts, done: map[*types.Var]bool{}}
	for _, c := range o.sql.Calls {
		if !c.Handle.Faked {
			o.call(c)
		}
	}
	return nil
}

// An overreads is the search for statements that read too much.
type overreads struct {
	r     *reporter
	x     *index
	sql   *sqlcall.Result
	facts Facts
	done  map[*types.Var]bool
}

// A reading is a result that the code holds, with the statements that may fill it.
type reading struct {
	calls  []*sqlcall.Call
	shapes []*shape
	rows   *types.Var // the slice, or the *sql.Rows
	first  *sqlcall.Call
	cursor bool // rows is a *sql.Rows that a loop advances
	// indirect: the text is set before the call, in a prepared statement or in a call
	// of sqlx.In.
	indirect bool
}

// from is where the arguments of a call are evaluated first.
func from(c *sqlcall.Call) token.Pos {
	if c.Text.In != nil {
		return c.Text.In.Pos()
	}
	return c.Expr.Pos()
}

func (o *overreads) call(c *sqlcall.Call) {
	rd := o.reading(c)
	if rd == nil || o.done[rd.rows] {
		return
	}
	o.done[rd.rows] = true
	tries := []func(*reading) (place, bool){o.cut, o.filter, o.grouped, o.paged, o.ranged}
	if rd.indirect {
		tries = tries[:2] // the others send the statement more than once, or move it
	}
	for _, try := range tries {
		if p, ok := try(rd); ok {
			p.node = rd.first.Expr
			for _, c := range rd.calls {
				p.statements = append(p.statements, c.SQL())
			}
			o.r.report(p)
			return
		}
	}
}

// reading returns the result of a Select or a Query; nil for other calls, and when
// a statement that fills it cannot be changed.
func (o *overreads) reading(c *sqlcall.Call) *reading {
	rd := &reading{first: c}
	switch c.Op {
	case sqlcall.Select:
		addr, ok := ast.Unparen(c.Dests[0]).(*ast.UnaryExpr)
		if !ok || addr.Op != token.AND {
			return nil
		}
		rd.rows = o.x.variable(addr.X)
	case sqlcall.Query:
		if a, ok := o.x.parent[c.Expr].(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
			rd.rows, rd.cursor = o.x.variable(a.Lhs[0]), true
		}
	}
	if rd.rows == nil || rd.rows.IsField() || rd.rows.Parent() == o.x.pass.Pkg.Scope() {
		return nil
	}
	for _, other := range o.sql.Calls {
		if other.Func != c.Func || !o.fills(other, rd) {
			continue
		}
		s := o.shapeOf(other)
		if s == nil {
			return nil
		}
		rd.indirect = rd.indirect || other.Text.Expanded || other.QueryArg == nil
		rd.calls, rd.shapes = append(rd.calls, other), append(rd.shapes, s)
	}
	if len(rd.calls) == 0 || rd.cursor && len(rd.calls) > 1 || len(o.otherWrites(rd)) > 0 && rd.cursor {
		return nil
	}
	return rd
}

// shapeOf reads the statement of a call, also of one that is prepared or that sqlx.In
// expands; nil if it has another form.
func (o *overreads) shapeOf(c *sqlcall.Call) *shape {
	switch {
	case c.Text == nil:
		return nil
	case !c.Text.Expanded:
		if c.Spread {
			return nil
		}
		return shapeWith(c, len(c.Args))
	case c.Text.In == nil || !c.Spread || len(c.Args) != 1 || !o.expandedBy(c):
		return nil
	}
	return shapeWith(c, len(c.Text.In.Args)-1)
}

// expandedBy reports whether the arguments of a call are those that sqlx.In returned
// with its text, in the same function.
func (o *overreads) expandedBy(c *sqlcall.Call) bool {
	in := c.Text.In
	a, ok := o.x.parent[in].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 3 || c.Func == nil || !within(in, c.Func) || in.Pos() > c.Expr.Pos() {
		return false
	}
	args := o.x.variable(a.Lhs[1])
	return args != nil && o.x.variable(c.Args[0]) == args && o.sql.Writes[args] == 1
}

func (o *overreads) fills(c *sqlcall.Call, rd *reading) bool {
	if rd.cursor {
		return c == rd.first
	}
	if c.Op != sqlcall.Select {
		return false
	}
	addr, ok := ast.Unparen(c.Dests[0]).(*ast.UnaryExpr)
	return ok && o.x.variable(addr.X) == rd.rows
}

// otherWrites lists the writes to the result besides those by its statements.
func (o *overreads) otherWrites(rd *reading) []*ast.Ident {
	var out []*ast.Ident
	for _, id := range o.x.writes(rd.rows) {
		ofCall := false
		for _, c := range rd.calls {
			ofCall = ofCall || within(id, c.Expr)
			if a, ok := o.x.parent[c.Expr].(*ast.AssignStmt); ok && rd.cursor {
				ofCall = ofCall || within(id, a)
			}
		}
		if !ofCall {
			out = append(out, id)
		}
	}
	return out
}

// readsOf lists the uses of the result besides those by its statements, and
// besides the capacity of a make.
func (o *overreads) readsOf(rd *reading) []*ast.Ident {
	var out []*ast.Ident
	for _, id := range o.x.uses[rd.rows] {
		skip := false
		for _, c := range rd.calls {
			skip = skip || within(id, c.Expr)
			if a, ok := o.x.parent[c.Expr].(*ast.AssignStmt); ok && rd.cursor {
				skip = skip || within(id, a)
			}
		}
		if !skip && !o.isCapacity(id) {
			out = append(out, id)
		}
	}
	return out
}

// isCapacity reports whether a use is len(v) as the capacity of a make.
func (o *overreads) isCapacity(id *ast.Ident) bool {
	length, ok := o.x.parent[id].(*ast.CallExpr)
	if !ok || !o.isBuiltin(length, "len") {
		return false
	}
	call, ok := o.x.parent[length].(*ast.CallExpr)
	if !ok || !o.isBuiltin(call, "make") {
		return false
	}
	_, isMap := o.x.typeOf(call.Args[0]).Underlying().(*types.Map)
	return len(call.Args) == 3 && call.Args[2] == length || isMap
}

func (o *overreads) isBuiltin(c *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	return ok && id.Name == name && o.x.pass.TypesInfo.Types[c.Fun].IsBuiltin()
}

// A scan is the loop over the rows of a result.
type scan struct {
	loop  ast.Stmt
	body  []ast.Stmt // without the statements that fetch the row
	row   *types.Var // the row, or nil where columns are scanned into variables
	slice *types.Var // rows[i] is the row, too
	index *types.Var
	// columns has the column of each variable and field that a Scan fills.
	columns map[*types.Var]string
}

// scanOf returns the only loop over a result, or nil if the result is used elsewhere.
func (o *overreads) scanOf(rd *reading) *scan {
	if rd.cursor {
		return o.cursorLoop(rd)
	}
	var loop *ast.RangeStmt
	for _, id := range o.readsOf(rd) {
		if r, ok := o.x.parent[id].(*ast.RangeStmt); ok && r.X == id && loop == nil {
			loop = r
			continue
		}
		if ix, ok := o.x.parent[id].(*ast.IndexExpr); ok && ix.X == id && loop != nil && within(id, loop.Body) &&
			loop.Key != nil && o.x.variable(ix.Index) == o.x.variable(loop.Key) {
			continue
		}
		return nil
	}
	if loop == nil || loop.Pos() < rd.last().Expr.End() || loop.Tok == token.ASSIGN {
		return nil
	}
	s := &scan{loop: loop, body: loop.Body.List, slice: rd.rows}
	if loop.Value != nil {
		s.row = o.x.variable(loop.Value)
	}
	if loop.Key != nil && !isBlank(loop.Key) {
		s.index = o.x.variable(loop.Key)
		for _, id := range o.x.uses[s.index] {
			if ix, ok := o.x.parent[id].(*ast.IndexExpr); !ok || ix.Index != id || o.x.variable(ix.X) != rd.rows {
				return nil // the position of a row is used
			}
		}
	}
	if s.row == nil {
		s.row = o.rowAlias(s)
	}
	return s
}

// rowAlias finds "row := rows[i]" or "row := &rows[i]" at the start of the body,
// and takes it off the body.
func (o *overreads) rowAlias(s *scan) *types.Var {
	if len(s.body) == 0 {
		return nil
	}
	a, ok := s.body[0].(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 {
		return nil
	}
	e := a.Rhs[0]
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	if ix, ok := e.(*ast.IndexExpr); ok && o.x.variable(ix.X) == s.slice {
		s.body = s.body[1:]
		return o.x.variable(a.Lhs[0])
	}
	return nil
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// last is the last statement that fills the result.
func (rd *reading) last() *sqlcall.Call { return rd.calls[len(rd.calls)-1] }

// cursorLoop returns the loop "for rows.Next()" when rows is otherwise only closed
// and asked for its error.
func (o *overreads) cursorLoop(rd *reading) *scan {
	var loop *ast.ForStmt
	var fetch *ast.CallExpr
	for _, id := range o.readsOf(rd) {
		sel, ok := o.x.parent[id].(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		call, ok := o.x.parent[sel].(*ast.CallExpr)
		if !ok {
			return nil
		}
		switch sel.Sel.Name {
		case "Close", "Err":
		case "Next":
			f, ok := o.x.parent[call].(*ast.ForStmt)
			if !ok || f.Cond != ast.Expr(call) || f.Init != nil || f.Post != nil || loop != nil {
				return nil
			}
			loop = f
		case "Scan", "StructScan":
			if fetch != nil {
				return nil
			}
			fetch = call
		default:
			return nil
		}
	}
	if loop == nil || fetch == nil || !within(fetch, loop.Body) {
		return nil
	}
	return o.fetched(rd, loop, fetch)
}

// fetched reads the statements of a cursor's loop up to the Scan.
func (o *overreads) fetched(rd *reading, loop *ast.ForStmt, fetch *ast.CallExpr) *scan {
	s := &scan{loop: loop, columns: map[*types.Var]string{}}
	for i, stmt := range loop.Body.List {
		if within(fetch, stmt) {
			s.body = loop.Body.List[i+1:]
			if _, isIf := stmt.(*ast.IfStmt); !isIf && len(s.body) > 0 && o.isErrorCheck(s.body[0]) {
				s.body = s.body[1:]
			}
			break
		}
		if _, isDecl := stmt.(*ast.DeclStmt); !isDecl {
			if a, ok := stmt.(*ast.AssignStmt); !ok || a.Tok != token.DEFINE {
				return nil
			}
		}
	}
	if fetch.Fun.(*ast.SelectorExpr).Sel.Name == "StructScan" {
		if addr, ok := fetch.Args[0].(*ast.UnaryExpr); ok && len(fetch.Args) == 1 {
			s.row = o.x.variable(addr.X)
		}
		return o.onlyInLoop(s)
	}
	shape := rd.shapes[0]
	if shape.star || len(shape.columns) != len(fetch.Args) {
		return nil
	}
	for i, arg := range fetch.Args {
		addr, ok := arg.(*ast.UnaryExpr)
		if !ok || addr.Op != token.AND {
			return nil
		}
		if v := o.x.variable(addr.X); v != nil {
			s.columns[v] = shape.columns[i]
		} else if sel, ok := addr.X.(*ast.SelectorExpr); ok && o.x.variable(sel.X) != nil {
			if f, ok := o.x.named(sel).(*types.Var); ok {
				s.columns[f], s.row = shape.columns[i], o.x.variable(sel.X)
			}
		}
	}
	return o.onlyInLoop(s)
}

// onlyInLoop returns the scan if the variables that a row is scanned into are not
// used outside of the loop, where they hold the last row.
func (o *overreads) onlyInLoop(s *scan) *scan {
	vars := []*types.Var{s.row}
	for v := range s.columns {
		if !v.IsField() {
			vars = append(vars, v)
		}
	}
	for _, v := range vars {
		if v == nil {
			continue
		}
		for _, id := range o.x.uses[v] {
			if !within(id, s.loop) {
				return nil
			}
		}
	}
	return s
}

// isErrorCheck reports whether a statement is "if err != nil { …; return }".
func (o *overreads) isErrorCheck(s ast.Stmt) bool {
	i, ok := s.(*ast.IfStmt)
	if !ok || i.Else != nil || len(i.Body.List) == 0 {
		return false
	}
	if !isError(o.x.typeOf(notNil(o.x.pass.TypesInfo, i.Cond))) {
		return false
	}
	_, returns := i.Body.List[len(i.Body.List)-1].(*ast.ReturnStmt)
	return returns
}

func isNil(x *index, e ast.Expr) bool { return x.pass.TypesInfo.Types[e].IsNil() }

// columnOf returns the column of an expression that reads the row: a field, or a
// variable that Scan fills.
func (o *overreads) columnOf(s *scan, e ast.Expr) (string, bool) {
	e = ast.Unparen(e)
	if v := o.x.variable(e); v != nil {
		c, ok := s.columns[v]
		return c, ok && c != ""
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || !o.isRow(s, sel.X) {
		return "", false
	}
	f, ok := o.x.named(sel).(*types.Var)
	if !ok || !f.IsField() {
		return "", false
	}
	if c, ok := s.columns[f]; ok {
		return c, c != ""
	}
	if len(s.columns) > 0 {
		return "", false
	}
	return o.tagged(sel)
}

// isRow reports whether an expression is the row of the loop.
func (o *overreads) isRow(s *scan, e ast.Expr) bool {
	e = ast.Unparen(e)
	if v := o.x.variable(e); v != nil {
		return v == s.row
	}
	ix, ok := e.(*ast.IndexExpr)
	return ok && s.slice != nil && o.x.variable(ix.X) == s.slice
}

// tagged is the column of a field by its tag, or by its name in lower case as
// sqlx maps it.
func (o *overreads) tagged(sel *ast.SelectorExpr) (string, bool) {
	selection := o.x.pass.TypesInfo.Selections[sel]
	if selection == nil || len(selection.Index()) != 1 {
		return "", false // of an embedded struct
	}
	t := selection.Recv()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return "", false
	}
	tag, has := reflect.StructTag(st.Tag(selection.Index()[0])).Lookup("db")
	if !has {
		return strings.ToLower(sel.Sel.Name), true
	}
	name, _, _ := strings.Cut(tag, ",")
	return name, name != "" && name != "-"
}
