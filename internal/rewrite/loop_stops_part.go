package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A loop that leaves rows out by conditions of its own stops after an unknown number of
// rows. Its rows are read in two parts: the first ones, and all of them where the loop comes
// to their end. The loop may be in the function that has the statement, or in one that the
// rows are given to and that returns what it kept.

// A part is read first: firstPart rows for each one that is kept, at least leastPart.
const (
	firstPart = 4
	leastPart = 64
)

// partOf is the number of rows of the first part.
func partOf(n int64) int64 { return max(firstPart*n, leastPart) }

// A partial is a Select whose rows are read in two parts.
type partial struct {
	*stopping
	x    *index
	c    *sqlcall.Call
	s    *statement
	rows *types.Var
	n    int64 // that the loop keeps
	fail *ast.IfStmt
}

// inParts is the rewrite of a loop in the function of the statement.
func (l *stopping) inParts(c *sqlcall.Call, s *statement, loop *rowLoop, n int64) ([]analysis.TextEdit, bool) {
	p := &partial{stopping: l, x: indexOf(l.pass), c: c, s: s, rows: localVar(l.pass.TypesInfo, c.Dests[0]), n: n}
	r, ok := loop.stmt.(*ast.RangeStmt)
	if !ok || !p.readable() || !l.needs(r.Tok == token.DEFINE || r.Key == nil, r, "the loop sets variables that are declared before it") ||
		!l.needs(r.Value == nil || isIdent(r.Value), r, "the loop's element is no plain variable") ||
		!l.needs(p.ownVariables(r), r, "the loop sets its index, or its element is used after its round") ||
		!l.needs(p.x.readsOnly(l.calls, r.Body, deepestHelper), r.Body, "the loop does more than read: what it calls may change the rows") {
		return nil, false
	}
	limit, ok := p.limit()
	if !ok {
		return nil, false
	}
	i, rows := p.counter(r), p.rows.Name()
	all := p.free("all", r)
	var b strings.Builder
	fmt.Fprintf(&b, "for %s := 0; ; %s++ {\n", i, i)
	fmt.Fprintf(&b, "if %s == %d && len(%s) == %d { // the first rows are not enough\n", i, partOf(n), rows, partOf(n))
	fmt.Fprintf(&b, "var %s %s\n", all, p.typeText())
	fmt.Fprintf(&b, "if %s := %s; %s != nil {\n%s\n}\n%s = %s\n}\n", p.errName(), p.again("&"+all), p.errName(), p.failText(), rows, all)
	fmt.Fprintf(&b, "if %s >= len(%s) {\nbreak\n}", i, rows)
	if id, ok := r.Value.(*ast.Ident); ok && id.Name != "_" {
		fmt.Fprintf(&b, "\n%s := %s[%s]", id.Name, rows, i)
	}
	return append(limit, edit(r.For, r.Body.Lbrace+1, b.String())), true
}

// ownVariables reports whether the variables of a loop may be new ones in each round, as they
// are in the loop that takes its place: the index is not set, and, where Go's range shares
// one variable among the rounds, no address and no function literal keeps the element.
func (p *partial) ownVariables(r *ast.RangeStmt) bool {
	if v := p.x.variable(r.Key); v != nil && len(p.x.writes(v)) > 0 {
		return false
	}
	shared := !goAtLeast(p.pass, r.Pos(), "go1.22")
	for _, e := range []ast.Expr{r.Key, r.Value} {
		v := p.x.variable(e)
		if v == nil || !shared {
			continue
		}
		for _, id := range p.x.uses[v] {
			u, isUnary := p.x.parent[id].(*ast.UnaryExpr)
			if isUnary && u.Op == token.AND || p.x.function(id) != p.x.function(r) {
				return false
			}
		}
	}
	return true
}

// readable checks the statement, its arguments and what follows it.
func (p *partial) readable() bool {
	l, c := p.stopping, p.c
	p.fail = p.failure()
	named := false
	if d, ok := p.x.function(c.Expr).(*ast.FuncDecl); ok && d.Type.Results != nil {
		named = slices.ContainsFunc(d.Type.Results.List, func(f *ast.Field) bool { return len(f.Names) > 0 })
	}
	return l.needs(throughSqlx(c) && !c.Named && !c.Spread && c.Handle.Kind != sqlcall.Stmt, c.Expr, "the rows are not read by Select of sqlx with plain arguments") &&
		l.needs(!sqltext.Locks(p.s.tokens), c.Expr, "the statement locks its rows") &&
		l.needs(p.s.selects().OrderBy != nil, c.Expr, "the statement has no ORDER BY, so that its first rows are any") &&
		l.needs(p.fail != nil, c.Expr, "the error of the statement is not checked right behind it by a block that returns") &&
		l.needs(!named, c.Expr, "the results of the function have names") &&
		l.needs(p.steady(), c.Expr, "an argument of the statement may have changed when the other rows are read")
}

// failure is the check of the statement's error, nil for another form.
func (p *partial) failure() *ast.IfStmt {
	a, ok := p.x.parent[p.c.Expr].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !isIdent(a.Lhs[0]) {
		return nil
	}
	check, ok := p.x.parent[a].(*ast.IfStmt)
	if !ok {
		check, ok = next(p.x, a).(*ast.IfStmt)
	}
	if !ok || check.Else != nil || len(check.Body.List) == 0 || !ends(p.x.pass.TypesInfo, check.Body) {
		return nil
	}
	cond, ok := check.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || !p.x.pass.TypesInfo.Types[cond.Y].IsNil() || p.x.variable(cond.X) == nil || p.x.variable(cond.X) != p.x.variable(a.Lhs[0]) {
		return nil
	}
	return check
}

// next is the statement behind another one in its block, nil if it is the last one.
func next(x *index, s ast.Stmt) ast.Stmt {
	block, ok := x.parent[s].(*ast.BlockStmt)
	if !ok {
		return nil
	}
	i := slices.Index(block.List, s)
	if i < 0 || i+1 >= len(block.List) {
		return nil
	}
	return block.List[i+1]
}

// steady reports whether the handle and the arguments are made of variables that are set
// once, and of fields that the function does not set.
func (p *partial) steady() bool {
	exprs := append([]ast.Expr{p.c.Handle.Expr, p.c.QueryArg}, p.c.Args...)
	if p.c.Context != nil {
		exprs = append(exprs, p.c.Context)
	}
	still := quietness{pass: p.pass, calls: p.calls}
	fn := p.x.function(p.c.Expr)
	return !slices.ContainsFunc(exprs, func(e ast.Expr) bool {
		if e == p.c.Context && contextualExpr(p.pass, e) {
			return false
		}
		return !still.quiet(e) || !p.untouched(e, fn)
	})
}

// contextualExpr reports whether an expression is the context of a request: r.Context().
func contextualExpr(pass *analysis.Pass, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && len(call.Args) == 0 && contextual(pass, call)
}

// untouched reports whether a function sets none of the variables of an expression behind
// the statement, and no field of them.
func (p *partial) untouched(e ast.Expr, fn ast.Node) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent {
			return true
		}
		v := p.x.variable(id)
		if v == nil || v.IsField() {
			return true
		}
		for _, w := range p.x.writes(v) {
			if !isLocal(v) && e == p.c.Handle.Expr && p.x.startsUp(w) {
				continue // a pool that is opened before requests come
			}
			ok = ok && (p.x.function(w) == fn && w.Pos() < p.c.Expr.Pos() && !insideLoop(p.x, w, fn))
		}
		return ok
	})
	return ok
}

// insideLoop reports whether a node is in a loop of a function.
func insideLoop(x *index, n, fn ast.Node) bool {
	for n = x.parent[n]; n != nil && n != fn; n = x.parent[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		}
	}
	return false
}

// limit are the edits that bound the statement.
func (p *partial) limit() ([]analysis.TextEdit, bool) {
	e, ok := limited(p.s, fmt.Sprint(partOf(p.n)))
	if !p.needs(ok, p.c.Expr, "the statement takes no LIMIT at its end") {
		return nil, false
	}
	edits, ok := p.c.Text.Edits(e)
	return edits, p.needs(ok, p.c.Expr, textSpread)
}

// again is the call of the statement as it was, with another destination.
func (p *partial) again(dest string) string {
	from, to := p.c.Dests[0].Pos(), p.c.Dests[0].End()
	return p.x.between(p.c.Expr.Pos(), from) + dest + p.x.between(to, p.c.Expr.End())
}

func (p *partial) errName() string {
	return p.x.text(p.x.parent[p.c.Expr].(*ast.AssignStmt).Lhs[0])
}

// failText is what runs when the statement fails.
func (p *partial) failText() string {
	body := p.fail.Body
	return strings.TrimSpace(p.x.between(body.Lbrace+1, body.Rbrace))
}

func (p *partial) typeText() string {
	f := p.x.fileOf(p.c.Expr.Pos())
	return types.TypeString(p.rows.Type(), func(pkg *types.Package) string {
		if pkg == p.pass.Pkg {
			return ""
		}
		for _, spec := range f.Imports {
			if strings.Trim(spec.Path.Value, `"`) == pkg.Path() {
				return p.x.importName(spec)
			}
		}
		return pkg.Name()
	})
}

// counter is the name of the loop's index, or a free one.
func (p *partial) counter(r *ast.RangeStmt) string {
	if id, ok := r.Key.(*ast.Ident); ok && id.Name != "_" {
		return id.Name
	}
	return p.free("i", r)
}

// free is a name that nothing in the function has.
func (p *partial) free(name string, at ast.Node) string {
	used := map[string]bool{}
	ast.Inspect(p.x.topDecl(at), func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	return freshNumbered(used, name)
}

// readsOnly reports whether a body sends nothing but queries, and calls nothing that might:
// functions of the package are followed.
func (x *index) readsOnly(calls *sqlcall.Result, body ast.Node, depth int) bool {
	ok := depth > 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt:
			ok = false
		case *ast.CallExpr:
			ok = ok && x.readsCall(calls, n, depth)
		}
		return ok
	})
	return ok
}

// readsCall reports whether a call only reads or computes.
func (x *index) readsCall(calls *sqlcall.Result, call *ast.CallExpr, depth int) bool {
	if c := calls.At(call); c != nil {
		if c.Texts != nil {
			return !c.Handle.Faked && onlySelects(c)
		}
		return c.Text != nil && c.Op != sqlcall.Exec && readsRows(c.SQL()) && !c.Handle.Faked
	}
	tv := x.pass.TypesInfo.Types[call.Fun]
	if tv.IsType() || tv.IsBuiltin() || chained(calls, call) {
		return true
	}
	fn := x.callee(call)
	switch {
	case fn == nil:
		return false // of a variable
	case fn.Pkg() == nil:
		return true // error.Error
	case x.decls[fn] != nil && x.decls[fn].Body != nil:
		return x.readsOnly(calls, x.decls[fn].Body, depth-1)
	}
	path := fn.Pkg().Path()
	first, _, _ := strings.Cut(path, "/")
	standard := !strings.Contains(first, ".") && fn.Pkg() != x.pass.Pkg
	return standard && path != "os/exec" && path != "database/sql" || path == "database/sql" && slices.Contains([]string{"Scan", "Next", "Close", "Err"}, fn.Name()) ||
		slices.Contains(quietPackages, path)
}

// A keeping is a function that is given rows, keeps some of them, and stops when it has
// enough:
//
//	func pages(rows []Row) ([]Page, error) { for _, r := range rows { …; if len(out) >= 20 { break } }; return out, nil }
type keeping struct {
	param int
	n     int64
	bound string // as the function writes it
}

// keepingOf reads a function as one that keeps some of its rows.
func (l *stopping) keepingOf(x *index, d *ast.FuncDecl) (keeping, bool) {
	if d == nil || d.Body == nil || d.Type.Params == nil {
		return keeping{}, false
	}
	i := 0
	for _, field := range d.Type.Params.List {
		for _, name := range field.Names {
			v, _ := l.pass.TypesInfo.Defs[name].(*types.Var)
			if k, ok := l.keeps(x, d, v); ok {
				k.param = i
				return k, true
			}
			i++
		}
	}
	return keeping{}, false
}

// keeps finds the loop over a parameter that stops at the length of what the function
// returns.
func (l *stopping) keeps(x *index, d *ast.FuncDecl, v *types.Var) (k keeping, found bool) {
	if v == nil {
		return k, false
	}
	if _, isSlice := v.Type().Underlying().(*types.Slice); !isSlice || len(x.uses[v]) != 1 {
		return k, false
	}
	loop, ok := x.parent[x.uses[v][0]].(*ast.RangeStmt)
	if !ok || loop.X != ast.Expr(x.uses[v][0]) || x.parent[loop] != ast.Node(d.Body) {
		return k, false
	}
	results := returned(d.Body)
	for _, s := range loop.Body.List {
		check, ok := s.(*ast.IfStmt)
		if !ok || check.Init != nil || check.Else != nil || len(check.Body.List) != 1 || !breaks(check.Body.List[0]) {
			continue
		}
		b, ok := check.Cond.(*ast.BinaryExpr)
		if !ok || b.Op != token.GEQ && b.Op != token.EQL {
			continue
		}
		call, ok := ast.Unparen(b.X).(*ast.CallExpr)
		n := x.pass.TypesInfo.Types[b.Y].Value
		if !ok || !isBuiltin(l.pass.TypesInfo, call, "len") || n == nil || n.Kind() != constant.Int {
			continue
		}
		out := x.variable(call.Args[0])
		if out == nil || !l.onlyAppended(x, out) || !returnsIt(x, results, out) {
			continue
		}
		k.n, _ = constant.Int64Val(n)
		k.bound = fmt.Sprint(k.n)
		return k, k.n > 0
	}
	return k, false
}

func breaks(s ast.Stmt) bool {
	b, ok := s.(*ast.BranchStmt)
	return ok && b.Tok == token.BREAK && b.Label == nil
}

// onlyAppended reports whether a local slice begins empty and grows by append alone.
func (l *stopping) onlyAppended(x *index, v *types.Var) bool {
	if !isLocal(v) || !l.startsEmpty(v) {
		return false
	}
	for _, id := range x.writes(v) {
		a, ok := x.parent[id].(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return false
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok || !isBuiltin(x.pass.TypesInfo, call, "append") || x.variable(call.Args[0]) != v {
			return false
		}
	}
	return true
}

// returnsIt reports whether a function returns a variable, and nothing else but nil.
func returnsIt(x *index, results []ast.Expr, v *types.Var) bool {
	found := false
	for _, r := range results {
		switch {
		case x.variable(r) == v:
			found = true
		case !x.pass.TypesInfo.Types[r].IsNil():
			return false
		}
	}
	return found
}

// given reports the rows that are given to a function which keeps some of them.
func (l *stopping) given(c *sqlcall.Call, s *statement) {
	x := indexOf(l.pass)
	rows := localVar(l.pass.TypesInfo, c.Dests[0])
	if rows == nil || !l.startsEmpty(rows) {
		return
	}
	var to *ast.CallExpr
	for _, id := range x.uses[rows] {
		switch up := x.parent[id].(type) {
		case *ast.UnaryExpr:
			if x.parent[up] != ast.Node(c.Expr) {
				return
			}
		case *ast.CallExpr:
			if isBuiltin(l.pass.TypesInfo, up, "len") {
				b, ok := x.parent[up].(*ast.BinaryExpr)
				if !ok || !comparesWithZero(l.pass.TypesInfo, b, up) {
					return
				}
				continue
			}
			if to != nil {
				return
			}
			to = up
		default:
			return
		}
	}
	if to == nil {
		return
	}
	d := x.decls[x.callee(to)]
	k, ok := l.keepingOf(x, d)
	if !ok || k.param >= len(to.Args) || x.variable(to.Args[k.param]) != rows {
		return
	}
	name := d.Name.Name
	p := place{node: c.Expr, statements: []string{s.sql}, what: fmt.Sprintf("all rows are read and %s stops after %d that pass its conditions", name, k.n),
		how: fmt.Sprintf("read %d rows first, and all where they are not enough", partOf(k.n))}
	if edits, ok := l.givenEdits(&partial{stopping: l, x: x, c: c, s: s, rows: rows, n: k.n}, to, d, k); ok {
		p.fixes, p.promise = suggested("Read the first rows first", edits), l.partPromise(s)
	}
	l.report(p)
}

// partPromise is what two parts weaken: rows may change between them, and rows that no ORDER
// BY tells apart may be in another order.
func (l *stopping) partPromise(s *statement) Promise {
	if l.ordered(s) {
		return Isolation
	}
	return TestedOnly
}

// ordered reports whether the columns of ORDER BY have a unique key.
func (l *stopping) ordered(s *statement) bool {
	t, ok := onlyTable(s.selects())
	if !ok || s.selects().OrderBy == nil {
		return false
	}
	columns := equalities(s.selects().Where)
	for _, item := range s.selects().OrderBy.Items {
		if name, ok := item.Expr.(*tidb.ColumnNameExpr); ok {
			columns = append(columns, name.Name.Name.L)
		}
	}
	return l.facts.unique(t.name, columns)
}

// givenEdits bound the statement, and read all rows where the function keeps too few of the
// first ones.
func (l *stopping) givenEdits(p *partial, to *ast.CallExpr, d *ast.FuncDecl, k keeping) ([]analysis.TextEdit, bool) {
	if !p.readable() {
		return nil, false
	}
	a, ok := p.x.parent[to].(*ast.AssignStmt)
	if !l.needs(ok && len(a.Rhs) == 1 && isIdent(a.Lhs[0]) && p.x.variable(a.Lhs[0]) != nil, to, "what %s returns is not the value of an assignment", d.Name.Name) {
		return nil, false
	}
	var last ast.Stmt = a
	check, hasCheck := next(p.x, a).(*ast.IfStmt)
	if len(a.Lhs) == 2 {
		if !l.needs(hasCheck && check.Init == nil && check.Else == nil && len(check.Body.List) > 0 && ends(l.pass.TypesInfo, check.Body), to, "the error of %s is not checked right behind it by a block that returns", d.Name.Name) {
			return nil, false
		}
		last = check
	}
	if !l.needs(len(a.Lhs) <= 2, to, "%s returns more than what it keeps and an error", d.Name.Name) ||
		!l.needs(p.x.readsOnly(l.calls, d.Body, deepestHelper), d, "%s does more than read, so that it cannot run twice", d.Name.Name) {
		return nil, false
	}
	edits, ok := p.limit()
	if !ok {
		return nil, false
	}
	call, before, more := p.sameArgs(to)
	edits = append(edits, more...)
	if before != "" {
		edits = append(edits, edit(a.Pos(), a.Pos(), before))
	}
	kept := p.x.text(a.Lhs[0])
	var b strings.Builder
	fmt.Fprintf(&b, "\nif len(%s) == %d && len(%s) < %s { // the first rows are not enough\n", p.rows.Name(), partOf(k.n), kept, k.bound)
	fmt.Fprintf(&b, "%s = nil\n", p.rows.Name())
	fmt.Fprintf(&b, "if %s := %s; %s != nil {\n%s\n}\n", p.errName(), p.again("&"+p.rows.Name()), p.errName(), p.failText())
	var left []string
	for _, e := range a.Lhs {
		left = append(left, p.x.text(e))
	}
	fmt.Fprintf(&b, "%s = %s\n", strings.Join(left, ", "), call)
	if len(a.Lhs) == 2 {
		b.WriteString(p.x.text(check) + "\n")
	}
	b.WriteString("}")
	return append(edits, edit(last.End(), last.End(), b.String())), true
}

// sameArgs is the text of a call with the arguments that it had: those that are more than
// plain values are put into variables before it.
func (p *partial) sameArgs(call *ast.CallExpr) (text, before string, edits []analysis.TextEdit) {
	still := quietness{pass: p.pass, calls: p.calls}
	fn := p.x.function(call)
	text = p.x.text(call.Fun) + "("
	for i, a := range call.Args {
		arg := p.x.text(a)
		if p.x.variable(a) != p.rows && !contextualExpr(p.pass, a) && !(still.quiet(a) && p.untouched(a, fn)) {
			name := p.free(fmt.Sprintf("given%d", i+1), call)
			before += name + " := " + arg + "\n"
			edits = append(edits, edit(a.Pos(), a.End(), name))
			arg = name
		}
		if i > 0 {
			text += ", "
		}
		text += arg
	}
	return text + ")", before, edits
}
