package rewrite

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A reader is a function or method of the package that sends one query whose arguments are
// its parameters, and does with the rows and the error whatever it likes:
//
//	func (s *server) owner(ctx context.Context, id string) (*Member, error) {
//		m := &Member{}
//		err := s.db.GetContext(ctx, m, "SELECT * FROM members WHERE id = ?", id)
//		if errors.Is(err, sql.ErrNoRows) {
//			return nil, nil
//		}
//		return m, err
//	}
//
// Its twin has the same body, in which the query asks the rows that one statement has read
// for the next elements of a loop, and is sent where these have none.
type reader struct {
	*perElement
	decl *ast.FuncDecl
	call *sqlcall.Call
	s    *statement
	all  []*statement // of each text that the call may send; s is the first one
	keys []keyPart    // of the statement, which vary
	// defines are the statements of a round that define variables of its keys.
	defines []*ast.AssignStmt
	// aheadRows is a map of rows that another rewrite has read ahead, whose field aheadField is the key;
	// "" where the key is of the element.
	aheadRows, aheadField string
	// lean: other arguments vary too, or a key is a field. The twin takes no more than what
	// the statement needs.
	lean   bool
	multi  bool          // Select, Query: several rows for each key
	scan   *ast.CallExpr // of the rows of a Query; nil for others
	first  bool          // of perhaps several rows for a key, the first one is read
	locks  bool          // in a transaction: the statement locks the row that it reads
	dests  []types.Type  // what the destinations point to
	points bool          // Select: into a slice of pointers to rows
	source *sourceText
}

// readerOf reads the declaration of a function as a reader by one of the parameters whose
// arguments vary. Of several statements it is the first one whose arguments name one of them; the
// others are sent as before.
func (l *perElement) readerOf(d *ast.FuncDecl, varying []int) (*reader, bool) {
	calls := l.calls.Within(d)
	if !l.needs(len(calls) > 0, d, "%s sends no statement by itself", d.Name.Name) {
		return nil, false
	}
	var why refusal
	if i := slices.IndexFunc(calls, func(c *sqlcall.Call) bool { return c.Loop != nil }); i >= 0 && len(calls) > 1 {
		return nil, l.no(calls[i].Expr, "%s sends %d statements, one of them in a loop", d.Name.Name, len(calls))
	}
	for _, c := range calls {
		r := &reader{perElement: l, decl: d, call: c, multi: c.Op == sqlcall.Select || c.Op == sqlcall.Query, source: newSource(l.pass, d.Pos())}
		l.reorders = false
		if r.reads(c) && r.keyed(varying) {
			return r, true
		}
		if why.at == nil {
			why = l.refused
		}
	}
	l.refused = why
	return nil, false
}

// keyed finds the parameters that the statement asks for, of those whose arguments vary.
func (r *reader) keyed(varying []int) bool {
	var keys []int
	for _, at := range varying {
		if r.named(r.param(at)) {
			keys = append(keys, at)
		}
		for _, e := range []ast.Expr{r.call.Handle.Expr, r.call.Context} {
			if e != nil && !r.needs(!r.asksFor(e, r.param(at)), e, "the database or the context of the statement varies") {
				return false
			}
		}
	}
	if !r.needs(len(keys) > 0, r.call.Expr, "no plain value of the element is an argument of %s", r.decl.Name.Name) {
		return false
	}
	r.keys, r.lean = nil, len(varying) > 1
	for _, at := range keys {
		k, ok := r.keyOf(at)
		if !r.needs(ok, r.call.Expr, "no plain value of the element is an argument of %s", r.decl.Name.Name) {
			return false
		}
		r.lean = r.lean || k.path != ""
		r.keys = append(r.keys, k)
	}
	return true
}

// named reports whether an argument of the statement names a parameter.
func (r *reader) named(param string) bool {
	return slices.ContainsFunc(r.call.Args, func(a ast.Expr) bool { return r.asksFor(a, param) })
}

// asksFor reports whether an argument names a parameter of the function.
func (r *reader) asksFor(a ast.Expr, param string) (found bool) {
	ast.Inspect(a, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && id.Name == param {
			v, isVar := r.pass.TypesInfo.Uses[id].(*types.Var)
			found = found || isVar && !v.IsField()
		}
		return !found
	})
	return found
}

// reads reports whether the function reads rows by a call as a reader does.
func (r *reader) reads(c *sqlcall.Call) bool {
	l, d := r.perElement, r.decl
	return l.needs(r.source != nil && !skipped(l.pass, d.Pos()), d, "%s is generated, or of a test", d.Name.Name) &&
		l.needs(r.plain(), d, "%s is generic, takes a list of arguments, or has a parameter or a result of a type without a name", d.Name.Name) &&
		l.needs(c.Func == d && c.Loop == nil, c.Expr, "%s sends its statement in a loop or in a closure", d.Name.Name) &&
		r.statement() && r.expressions() && r.destinations()
}

// plain reports whether the function's signature can be repeated as a type.
func (r *reader) plain() bool {
	if r.decl.Type.TypeParams != nil {
		return false
	}
	for _, p := range r.decl.Type.Params.List {
		if _, variadic := p.Type.(*ast.Ellipsis); variadic || len(p.Names) == 0 {
			return false
		}
		for _, name := range p.Names {
			if name.Name == "_" {
				return false
			}
		}
	}
	if r.decl.Recv == nil {
		return true
	}
	names := r.decl.Recv.List[0].Names
	recv := r.decl.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	_, named := recv.(*ast.Ident)
	return named && len(names) == 1 && names[0].Name != "_"
}

// statement checks the text of the statement.
func (r *reader) statement() bool {
	c := r.call
	if !r.needs(c.Op == sqlcall.Get || c.Op == sqlcall.Select || c.Op == sqlcall.QueryRow && scansValues(c) || r.listsRows(c), c.Expr,
		"the rows are not read by Get or Select of sqlx, by Scan of a QueryRow, or by one Scan of the rows of a Query") ||
		!r.needs(len(c.All()) > 0 && (c.Text == nil || !c.Text.Expanded), c.Expr, "a part of the statement's text is not known") ||
		!r.needs(c.Text == nil || !c.Text.Bound, c.Expr, "Rebind gives the text the placeholders of its database") ||
		!r.needs(!c.Named && !c.Spread && !c.Must && !c.Handle.Faked, c.Expr, "the arguments of the statement are named or a list") ||
		!r.needs(c.QueryArg != nil && c.Handle.Kind != sqlcall.Stmt || r.decl == nil && c.Prepared != nil && !c.Prepared.Named && c.Prepared.Func == c.Func, c.Expr,
			"the statement is prepared, and not in the function of the loop") {
		return false
	}
	r.all, r.first, r.locks = nil, false, false
	for _, sql := range c.All() {
		s, ok := r.readable(sql)
		if !ok {
			return false
		}
		r.all = append(r.all, s)
		r.first = r.first || r.firstOf(s)
		r.locks = r.locks || sqltext.Locks(s.tokens)
		if !r.needs(!r.listed() || !r.locks, c.Expr, "the rows of a Query are locked") {
			return false
		}
		r.reorders = r.reorders || r.listed() && s.selects().OrderBy == nil
	}
	r.s = r.all[0]
	r.reorders = r.reorders || r.first
	r.locking = r.locks
	return true
}

// firstOf reports whether a statement may find several rows for a key, of which one is read.
func (r *reader) firstOf(s *statement) bool {
	return !r.multi && !r.facts.atMostOne(s.selects()) && !limitOne(s.selects())
}

// readable checks one text of the statement.
func (r *reader) readable(sql string) (*statement, bool) {
	c := r.call
	s, err := parse(sql)
	if !r.needs(err == nil && s.selects() != nil && s.selects().From != nil && !s.selects().Distinct, c.Expr, "the statement is no SELECT of a table, or is a DISTINCT one") ||
		!r.needs(!sqltext.Locks(s.tokens) || r.locksRow(s), c.Expr, "the statement locks rows, and not the row of one key, until the end of a transaction of MySQL") ||
		!r.needs(r.handle().Kind != sqlcall.Tx || !serializable(r.pass), c.Expr, "in a serializable transaction, a statement that fails may end it") ||
		!r.needs(onePlaceholderEach(s.tokens, c.Args), c.Expr, "the statement's placeholders are not ? or $1, one for each argument") ||
		!r.needs(!dollared(s.tokens) || r.handle().Kind != sqlcall.Tx, c.Expr, "in a transaction of PostgreSQL, a statement that fails would end it") {
		return nil, false
	}
	return s, r.needs(!r.firstOf(s) || s.selects().Limit == nil && s.selects().GroupBy == nil, c.Expr,
		"the schema shows no unique key that the statement compares, and it has another LIMIT than 1, or groups its rows")
}

// handle is what a new statement goes through: that which prepared the statement, if one did.
func (r *reader) handle() sqlcall.Handle {
	if r.call.Prepared != nil {
		return r.call.Prepared.Handle
	}
	return r.call.Handle
}

// onePlaceholderEach reports whether a statement has one placeholder for each argument.
func onePlaceholderEach(tokens []sqltext.Token, args []ast.Expr) bool {
	at, ok := positions(tokens)
	return ok && len(args) > 0 && len(args) == len(at)
}

// plainKey reports whether a type has plain values that a map can have as its keys: also those that
// may be NULL, which no row has, so that they are asked for by themselves, and times, which are
// the same where they are computed again. NaN is no key that is found, and is asked for by itself.
func plainKey(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	if named := namedOf(t); !ok && named != nil && named.Obj().Pkg() != nil {
		_, isPointer := types.Unalias(t).(*types.Pointer)
		name := named.Obj().Pkg().Path() + "." + named.Obj().Name()
		return !isPointer && slices.Contains([]string{"time.Time", "database/sql.NullString", "database/sql.NullInt64", "database/sql.NullInt32", "database/sql.NullInt16"}, name)
	}
	return ok && basic.Info()&(types.IsInteger|types.IsString|types.IsFloat|types.IsBoolean) != 0 && basic.Info()&types.IsUntyped == 0
}

// scansValues reports whether the row of a QueryRow is read by Scan at once.
func scansValues(c *sqlcall.Call) bool {
	if c.Scan == nil {
		return false
	}
	sel, ok := c.Scan.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Scan"
}

// expressions checks that the statement's handle, context and arguments are made of
// parameters and of fields of them, which the function does not set.
func (r *reader) expressions() bool {
	all := append(slices.Clone(r.call.Args), r.call.Handle.Expr)
	if r.call.Context != nil {
		all = append(all, r.call.Context)
	}
	b := &batch{perElement: r.perElement}
	for _, e := range all {
		if !r.needs(r.repeatable(e) || contextual(r.pass, e), e, "an argument of the statement does more than compute") ||
			!r.needs(b.unsetIn(e, r.decl.Body) && !r.varies(e, r.decl.Body), e, "an argument of the statement is a variable of %s", r.decl.Name.Name) {
			return false
		}
	}
	return true
}

// contextual reports whether an expression asks a request for its context, as
// r.Context() and c.Request().Context() do: it may be asked once more.
func contextual(pass *analysis.Pass, e ast.Expr) bool {
	t := pass.TypesInfo.TypeOf(e)
	if t == nil || types.TypeString(t, nil) != "context.Context" {
		return false
	}
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return rootIdent(e) != nil
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Context", "Request", "UserContext", "StdContext", "Background", "TODO"}, sel.Sel.Name) || len(call.Args) > 0 {
			return false
		}
		e = sel.X
	}
}

// param is the name of a parameter.
func (r *reader) param(at int) string {
	for _, f := range r.decl.Type.Params.List {
		for _, name := range f.Names {
			if at--; at < 0 {
				return name.Name
			}
		}
	}
	return ""
}

// readAhead is the rewrite of a call of a reader in a loop: its twin takes the keys of all
// elements, reads the rows of the next ones by one statement when it is asked for a row that
// it does not have, and sends the function's own statement where it found none.
func (l *perElement) readAhead(call *ast.CallExpr, fn *types.Func, around ast.Stmt) ([]analysis.TextEdit, bool) {
	home := l.homeOf(fn)
	d := home.calls.Decl(fn)
	if d == nil || d.Body == nil || !l.needs(!call.Ellipsis.IsValid(), call, "the arguments are a list") {
		return nil, false
	}
	header, ok := l.rounds(around)
	if !ok {
		return nil, false
	}
	b := &batch{perElement: l}
	var varying []int
	for i, a := range call.Args {
		a = l.byElement(a, around)
		// What cannot be computed before the loop counts as varying: it matters where the statement
		// asks for it.
		if l.varies(a, around) || !b.unsetIn(a, bodyOfLoop(around)) || !l.repeatable(a) && !contextual(l.pass, a) {
			varying = append(varying, i)
		}
	}
	recv, isMethod := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if isMethod && d.Recv == nil {
		isMethod = false // a function of another package's name
	}
	if !l.needs(len(varying) > 0, call, "no plain value of the element is an argument of %s", d.Name.Name) {
		return nil, false
	}
	r, ok := home.readerOf(d, varying)
	if !ok {
		l.refused = home.refused
		return nil, false
	}
	for i := range r.keys {
		if !r.keys[i].fromElement(l, r, call, around) {
			return nil, false
		}
	}
	if !l.needs(!isMethod || l.still.quiet(recv.X) && !l.varies(recv.X, around) && b.unsetIn(recv.X, bodyOfLoop(around)), call, "the receiver of %s varies", d.Name.Name) ||
		!l.harmlessLoop(r, around) {
		return nil, false
	}
	return l.useTwin(r, call, around, header)
}

// homeOf has the package that declares a function: this one, or another one of the module.
func (l *perElement) homeOf(fn *types.Func) *perElement {
	if l.calls.Decl(fn) == nil && l.home != nil {
		if h := l.home(fn); h != nil {
			return h
		}
	}
	return l
}

// bodyOfLoop is the body of a loop.
func bodyOfLoop(loop ast.Stmt) ast.Stmt {
	if r, ok := loop.(*ast.RangeStmt); ok {
		return r.Body
	}
	return loop.(*ast.ForStmt).Body
}

// rounds is the header of a loop whose rounds can be gone through twice: a range over what
// is no call or channel, or one that counts up to a bound that the loop does not change.
func (l *perElement) rounds(around ast.Stmt) (header ast.Stmt, ok bool) {
	b := &batch{perElement: l}
	if _, labeled := parentOf(l.pass, around).(*ast.LabeledStmt); labeled {
		return nil, l.no(around, "the loop has a label")
	}
	switch n := around.(type) {
	case *ast.RangeStmt:
		b.loop = n
		if far(l.pass.TypesInfo, n.X) {
			return nil, l.no(n, countsFar)
		}
		b.list = l.listName(n)
		return n, l.needs(b.iterates() && (b.list != "" || b.unsetIn(n.X, n.Body)), n, "the loop goes over what cannot be gone over twice, as a channel")
	case *ast.ForStmt:
		init, ok := n.Init.(*ast.AssignStmt)
		counts := ok && init.Tok == token.DEFINE && len(init.Lhs) == 1 && n.Cond != nil && l.repeatable(init.Rhs[0]) && l.repeatable(n.Cond)
		if !counts || !l.steps(n.Post) || !bounded(n.Cond, init.Lhs[0]) {
			return nil, l.no(n, "the loop has no range whose elements are known before it")
		}
		kept := b.unsetIn(init.Lhs[0], n.Body)
		for _, part := range []ast.Node{n.Cond, n.Post} {
			ast.Inspect(part, func(x ast.Node) bool {
				if id, isIdent := x.(*ast.Ident); isIdent {
					if _, isVar := l.pass.TypesInfo.Uses[id].(*types.Var); isVar {
						kept = kept && b.unsetIn(id, n.Body)
					}
				}
				return kept
			})
		}
		if far(l.pass.TypesInfo, n.Cond) {
			return nil, l.no(n, countsFar)
		}
		return n, l.needs(kept, n, "the loop changes what it counts to")
	}
	return nil, l.no(around, "the loop has no range whose elements are known before it")
}

// bounded reports whether a condition compares the counter of a loop: another one, as a field that
// the body sets by a method, may hold for ever while nothing runs the body.
func bounded(cond, counter ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	switch b.Op {
	case token.LAND:
		return bounded(b.X, counter) || bounded(b.Y, counter)
	case token.LOR:
		return bounded(b.X, counter) && bounded(b.Y, counter)
	case token.LSS, token.LEQ, token.GTR, token.GEQ, token.NEQ:
		name := types.ExprString(counter)
		return hasName(b.X, name) != hasName(b.Y, name)
	}
	return false
}

// hasName reports whether an expression has a name.
func hasName(e ast.Expr, name string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// steps reports whether the last part of a loop's head adds to its counter, or takes from it.
func (l *perElement) steps(post ast.Stmt) bool {
	switch n := post.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && l.still.quiet(n)
	}
	return false
}

// mostRounds is the number of rounds beyond which a constant is no number of elements, but one that
// a loop never gets to.
const mostRounds = 100_000

const countsFar = "the loop counts so far that it is left in another way"

// far reports whether an expression has a constant beyond mostRounds.
func far(info *types.Info, e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		v := info.Types[x].Value
		found = found || v != nil && v.Kind() == constant.Int && constant.Compare(v, token.GTR, constant.MakeInt64(mostRounds))
		return !found && v == nil
	})
	return found
}

// guarded reports whether a key follows a pointer, or may otherwise panic, and its call stands where not every
// round gets: the condition around it may be that the pointer is not nil.
func guarded(pass *analysis.Pass, key ast.Expr, call *ast.CallExpr, loop ast.Stmt) bool {
	follows := false
	ast.Inspect(key, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr:
			follows = true
		case *ast.SelectorExpr:
			if t := pass.TypesInfo.TypeOf(n.X); t != nil {
				_, pointer := t.Underlying().(*types.Pointer)
				follows = follows || pointer
			}
		case *ast.IndexExpr:
			follows = follows || !sureIndex(pass, n, loop)
		case *ast.SliceExpr, *ast.TypeAssertExpr:
			follows = true
		case *ast.BinaryExpr: // by zero
			follows = follows || (n.Op == token.QUO || n.Op == token.REM) && pass.TypesInfo.Types[n.Y].Value == nil && integerType(pass.TypesInfo.TypeOf(n))
		}
		return !follows
	})
	if !follows {
		return false
	}
	at, _ := rootOf(pass).FindNode(call)
	for c := range at.Enclosing() {
		switch n := c.Node().(type) {
		case *ast.IfStmt:
			if n.Init == nil || n.Init.Pos() > call.Pos() || call.Pos() > n.Init.End() {
				return true
			}
		case *ast.CaseClause, *ast.CommClause:
			return true
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				return true
			}
		case *ast.BlockStmt:
			// What stands before the call in the loop's body may leave the round.
			if c.Parent().Node() == loop {
				return skips(pass, n, call, key)
			}
		}
	}
	return false
}

// sureIndex reports whether an index cannot be out of range: that of a map, or the loop's
// own of what it goes over.
func sureIndex(pass *analysis.Pass, n *ast.IndexExpr, loop ast.Stmt) bool {
	t := pass.TypesInfo.TypeOf(n.X)
	if t == nil {
		return false
	}
	if _, isMap := t.Underlying().(*types.Map); isMap {
		return true
	}
	r, ok := loop.(*ast.RangeStmt)
	if !ok || r.Key == nil || types.ExprString(r.X) != types.ExprString(n.X) {
		return false
	}
	key, isKey := r.Key.(*ast.Ident)
	at, isIdent := ast.Unparen(n.Index).(*ast.Ident)
	return isKey && isIdent && pass.TypesInfo.ObjectOf(key) == pass.TypesInfo.ObjectOf(at)
}

// skips reports whether a statement of a block before a call may leave the round, or the
// function on a condition on what the key names.
func skips(pass *analysis.Pass, body *ast.BlockStmt, call *ast.CallExpr, key ast.Expr) (found bool) {
	for _, s := range body.List {
		if s.End() > call.Pos() {
			break
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BranchStmt:
				found = true
			case *ast.IfStmt:
				found = found || leavesFunction(n.Body) && sharesVariable(pass, n.Cond, key)
			}
			return !found
		})
	}
	return found
}

// sharesVariable reports whether two expressions name one variable.
func sharesVariable(pass *analysis.Pass, a, b ast.Expr) (found bool) {
	seen := map[types.Object]bool{}
	ast.Inspect(b, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, isVar := pass.TypesInfo.ObjectOf(id).(*types.Var); isVar && !v.IsField() {
				seen[v] = true
			}
		}
		return true
	})
	ast.Inspect(a, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && seen[pass.TypesInfo.ObjectOf(id)]
		return !found
	})
	return found
}

// byElement is an argument as an expression of the element: that which sets a variable of
// the round, where a statement of the loop's body does so once, and the argument itself
// otherwise.
func (l *perElement) byElement(a ast.Expr, loop ast.Stmt) ast.Expr {
	body, ok := bodyOfLoop(loop).(*ast.BlockStmt)
	if !ok {
		return a
	}
	for range len(body.List) {
		v := localVar(l.pass.TypesInfo, a)
		if _, plain := ast.Unparen(a).(*ast.Ident); !plain || v == nil || l.calls.Writes[v] != 1 {
			return a
		}
		value := ast.Expr(nil)
		for _, s := range body.List {
			set, isSet := s.(*ast.AssignStmt)
			if isSet && set.Tok == token.DEFINE && len(set.Lhs) == 1 && len(set.Rhs) == 1 && l.pass.TypesInfo.Defs[identOf(set.Lhs[0])] == v && l.repeatable(set.Rhs[0]) {
				value = set.Rhs[0]
			}
		}
		if value == nil || !types.Identical(l.pass.TypesInfo.TypeOf(value), v.Type()) {
			return a
		}
		a = value
	}
	return a
}

// harmlessLoop reports whether nothing in a loop writes a table that the reader's
// statement reads.
func (l *perElement) harmlessLoop(r *reader, loop ast.Stmt) bool {
	for _, s := range r.all {
		for _, t := range tablesOf(s.selects()) {
			w := &tableWrites{perElement: l, table: t, known: map[*types.Func]bool{}, grows: r.keepsRow(s)}
			if !w.noneIn(loop, true) {
				return l.no(cmp.Or(w.culprit, ast.Node(loop)), "what the loop calls there may write to the table %s", t)
			}
		}
	}
	return true
}

// keepsRow reports whether no new row changes what a statement gives for a key that has a
// row: it reads the row of a unique key of one table. A key without a row is asked for again.
func (r *reader) keepsRow(s *statement) bool {
	sel := s.selects()
	t, ok := onlyTable(sel)
	return ok && !r.multi && !aggregates(sel) && sel.GroupBy == nil && len(tablesOf(sel)) == 1 && r.facts.unique(t.name, equalities(sel.Where))
}

// A tableFinder collects the names of the tables of a statement.
type tableFinder struct{ names []string }

func (f *tableFinder) Enter(n tidb.Node) (tidb.Node, bool) {
	if t, ok := n.(*tidb.TableName); ok && !slices.Contains(f.names, t.Name.L) {
		f.names = append(f.names, t.Name.L)
	}
	return n, false
}

func (f *tableFinder) Leave(n tidb.Node) (tidb.Node, bool) { return n, true }

// tablesOf are the tables that a SELECT reads, in lower case.
func tablesOf(sel *tidb.SelectStmt) []string {
	f := &tableFinder{}
	sel.Accept(f)
	return f.names
}
