package rewrite

import (
	"database/sql"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var readOnlyTransaction = Lever{Code: "APP210", Title: "a transaction that only reads",
	Line:    "a transaction has only SELECTs",
	Promise: Isolation, Order: 11, Saved: Share{Lo: 0.02, Hi: 0.3}, Of: OfStatements,
	find: findReadOnlyTransactions,
}

// findReadOnlyTransactions finds transactions that only read. A transaction around one statement
// is removed: the statement alone sees one state of the database, too.
func findReadOnlyTransactions(r *reporter) error {
	o := &readOnlyTx{r: r, x: indexOf(r.pass), sql: r.pass.ResultOf[sqlcall.Analyzer].(*sqlcall.Result)}
	for _, f := range o.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok {
				o.begin(a)
			}
			return true
		})
	}
	return nil
}

type readOnlyTx struct {
	r   *reporter
	x   *index
	sql *sqlcall.Result
}

// A txUse is what a function does with a transaction.
type txUse struct {
	reads   []*sqlcall.Call
	ends    []*ast.CallExpr // Commit and Rollback
	passed  []*ast.Ident    // to helpers that read, too
	owned   []*types.Var    // parameters of helpers that take a transaction and nothing else
	repeats bool            // a read is in a loop, or in a closure
	begun   *ast.CallExpr   // that begins the transaction
}

// begin reports "tx, err := db.Begin()" when all that follows only reads.
func (o *readOnlyTx) begin(a *ast.AssignStmt) {
	if len(a.Rhs) != 1 || a.Tok != token.DEFINE {
		return
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok {
		return
	}
	begins, each := o.begins(call)
	if !begins {
		return
	}
	tx := o.x.variable(a.Lhs[0])
	if tx == nil || len(o.x.writes(tx)) > 0 {
		return
	}
	use := txUse{begun: call}
	if !o.collect(tx, &use, 3) || len(use.reads) == 0 {
		return
	}
	p := place{node: call, what: fmt.Sprintf("a transaction has %d statements that only read", len(use.reads)),
		how: "send the statements without a transaction, if they need not see the same state", promise: Isolation}
	for _, c := range use.reads {
		p.statements = append(p.statements, c.All()...)
	}
	cursor, alone := slices.IndexFunc(use.reads, func(c *sqlcall.Call) bool { return c.Op == sqlcall.Query }), o.alone(use)
	if o.r.needs(cursor < 0 || len(use.reads) == 1 || alone, call, "rows are read one by one while other statements may be sent, which would take two connections") &&
		o.r.needs(o.closesRows(use), call, "the end of the transaction may be what closes rows") && o.r.needs(o.widens(use.owned), call, "the transaction is passed to a function that takes nothing else, and whose parameter cannot be an interface") {
		if fix, ok := o.remove(a, call, tx, use); o.r.needs(ok, call, "its beginning, its end or the check of an error has a form that cannot be removed") {
			p.fixes = fix1(fix)
			switch {
			case alone && len(use.reads) == 1:
				p.what, p.how, p.promise = "a transaction has one statement, which only reads", "send the statement without a transaction", NoPromise
			case alone:
				p.what, p.how, p.promise = "a transaction has one of several statements, which only read", "send the statement without a transaction", NoPromise
			case each:
				p.what, p.promise = fmt.Sprintf("a transaction has %d statements that only read, each of which sees what is committed then", len(use.reads)), NoPromise
				p.how = "send the statements without a transaction: at its isolation they need not see the same state"
			}
		}
	}
	o.r.report(p)
}

// begins reports whether a call starts a transaction at the default isolation, or at READ
// COMMITTED: then each statement sees a state of its own.
func (o *readOnlyTx) begins(c *ast.CallExpr) (ok, each bool) {
	fn := o.x.callee(c)
	if fn == nil || fn.Signature().Recv() == nil || fn.Signature().Results().Len() == 0 {
		return false, false
	}
	t := fn.Signature().Results().At(0).Type()
	if !isNamed(t, "database/sql", "Tx") && !isNamed(t, "github.com/jmoiron/sqlx", "Tx") {
		return false, false
	}
	if fn.Pkg().Path() != "database/sql" && fn.Pkg().Path() != "github.com/jmoiron/sqlx" {
		return false, false
	}
	if len(c.Args) < 2 || isNil(o.x, c.Args[1]) {
		return true, false
	}
	return o.options(c.Args[1])
}

// options reads &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: true}.
func (o *readOnlyTx) options(e ast.Expr) (ok, each bool) {
	u, isAddress := ast.Unparen(e).(*ast.UnaryExpr)
	if !isAddress {
		return false, false
	}
	lit, isLit := ast.Unparen(u.X).(*ast.CompositeLit)
	if !isLit {
		return false, false
	}
	for _, e := range lit.Elts {
		kv, isPair := e.(*ast.KeyValueExpr)
		if !isPair {
			return false, false
		}
		if key, isName := kv.Key.(*ast.Ident); !isName || key.Name != "Isolation" {
			continue
		}
		level, isConstant := intConstant(o.x.pass.TypesInfo, kv.Value)
		if !isConstant || level != int64(sql.LevelDefault) && level != int64(sql.LevelReadCommitted) {
			return false, false
		}
		each = level == int64(sql.LevelReadCommitted)
	}
	return true, each
}

// collect notes every use of a transaction, also in functions of the package that
// get it. It returns false for a use that may write or lock.
func (o *readOnlyTx) collect(tx *types.Var, use *txUse, depth int) bool {
	for _, id := range o.x.uses[tx] {
		if c := o.statement(id); c != nil {
			if c.Op == sqlcall.Exec || c.Op == sqlcall.Prepare || len(c.All()) == 0 || slices.ContainsFunc(c.All(), readsElse) {
				return false
			}
			use.reads = append(use.reads, c)
			use.repeats = use.repeats || o.again(id, use.begun)
			continue
		}
		if end := o.ending(id); end != nil {
			use.ends = append(use.ends, end)
			continue
		}
		if !o.helper(id, use, depth) {
			return false
		}
	}
	return true
}

// readsElse reports whether a statement does something else than read rows.
func readsElse(sql string) bool {
	tokens, ok := sqltext.Unknown.Tokens(sql)
	return !ok || len(tokens) == 0 || !tokens[0].Is("SELECT") || sqltext.Locks(tokens) || sqltext.Find(tokens, 0, "INTO") >= 0
}

// statement returns the call that sends a statement through the transaction.
func (o *readOnlyTx) statement(id *ast.Ident) *sqlcall.Call {
	for _, c := range o.sql.Calls {
		if c.Handle.Expr == ast.Expr(id) {
			return c
		}
	}
	return nil
}

func (o *readOnlyTx) ending(id *ast.Ident) *ast.CallExpr {
	sel, ok := o.x.parent[id].(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Commit" && sel.Sel.Name != "Rollback" {
		return nil
	}
	call, _ := o.x.parent[sel].(*ast.CallExpr)
	return call
}

// helper follows a transaction into a function of the package.
func (o *readOnlyTx) helper(id *ast.Ident, use *txUse, depth int) bool {
	call, ok := o.x.parent[id].(*ast.CallExpr)
	if !ok || depth == 0 {
		return false
	}
	at := slices.Index(call.Args, ast.Expr(id))
	fn := o.x.callee(call)
	if at < 0 || fn == nil || o.x.decls[fn] == nil || at >= fn.Signature().Params().Len() || fn.Signature().Variadic() {
		return false
	}
	param := fn.Signature().Params().At(at)
	_, isFace := param.Type().Underlying().(*types.Interface)
	if !isFace && !slices.Contains(use.owned, param) {
		use.owned = append(use.owned, param)
	}
	use.passed, use.repeats = append(use.passed, id), use.repeats || o.again(id, use.begun)
	return o.collect(param, use, depth-1)
}

// remove makes the fix: no Begin, no Rollback, no Commit, and the pool as handle.
func (o *readOnlyTx) remove(a *ast.AssignStmt, begin *ast.CallExpr, tx *types.Var, use txUse) (fix analysis.SuggestedFix, ok bool) {
	block, inBlock := o.x.parent[a].(*ast.BlockStmt)
	pool, isSel := ast.Unparen(begin.Fun).(*ast.SelectorExpr)
	if !inBlock || !isSel || !plainPath(pool.X) {
		return fix, false
	}
	rw := o.x.rewrite()
	gone := []ast.Node{a}
	if next := slices.Index(block.List, ast.Stmt(a)) + 1; len(a.Lhs) == 2 {
		if next >= len(block.List) || !o.checksError(block.List[next]) {
			return fix, false
		}
		gone = append(gone, block.List[next])
	}
	for _, end := range use.ends {
		removed, replaced := o.endOf(end)
		if removed == nil && !replaced {
			return fix, false
		}
		gone = append(gone, removed...)
		if replaced {
			rw.replace(end, "nil")
		}
	}
	o.keepError(rw, a, block, gone)
	for _, n := range gone {
		rw.removeLines(n)
	}
	if !o.throughPool(rw, pool.X, tx, use) {
		return fix, false
	}
	if fix, ok = rw.fix("remove the transaction"); !ok {
		return fix, false
	}
	if len(use.reads)+len(use.passed) > 1 {
		if fix, ok = o.asOne(fix); !ok {
			return fix, false
		}
	}
	for _, param := range use.owned {
		text, _ := o.faceOf(param, deepestHelper)
		kind := o.fieldOf(param).Type
		fix.TextEdits = append(fix.TextEdits, edit(kind.Pos(), kind.End(), text))
	}
	return fix, true
}

// asOne makes one edit of all: a fix of another lever in between, whose text may name the
// transaction, then overlaps and waits for this one.
func (o *readOnlyTx) asOne(fix analysis.SuggestedFix) (analysis.SuggestedFix, bool) {
	from, to := fix.TextEdits[0].Pos, fix.TextEdits[0].End
	for _, e := range fix.TextEdits {
		to = max(to, e.End)
	}
	source := newSource(o.x.pass, from)
	if source == nil {
		return fix, false
	}
	text, at := "", from
	for _, e := range fix.TextEdits {
		if e.Pos < at {
			return fix, false
		}
		text += source.text(at, e.Pos) + string(e.NewText)
		at = e.End
	}
	fix.TextEdits = []analysis.TextEdit{edit(from, to, text+source.text(at, to))}
	return fix, true
}

// throughPool sends the statements through the pool. ok is false where the pool's name means
// something else there, or where a helper does not take it.
func (o *readOnlyTx) throughPool(rw *rewrite, pool ast.Expr, tx *types.Var, use txUse) bool {
	root := o.x.pass.TypesInfo.ObjectOf(rootIdent(pool))
	replace := func(id *ast.Ident) bool {
		if o.x.variable(id) != tx {
			return true // of a helper
		}
		_, there := o.x.pass.Pkg.Scope().Innermost(id.Pos()).LookupParent(rootIdent(pool).Name, id.Pos())
		rw.replace(id, o.x.text(pool))
		return there == root
	}
	for _, c := range use.reads {
		if id, ok := c.Handle.Expr.(*ast.Ident); !ok || !replace(id) {
			return false
		}
	}
	for _, id := range use.passed {
		call := o.x.parent[id].(*ast.CallExpr)
		param := o.x.callee(call).Signature().Params().At(slices.Index(call.Args, ast.Expr(id)))
		if face, ok := param.Type().Underlying().(*types.Interface); ok && !types.Implements(o.x.typeOf(pool), face) || !ok && !o.hasAsked(pool, param) || !replace(id) {
			return false
		}
	}
	return true
}

// plainPath reports whether an expression is a name or a path of fields.
func plainPath(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return plainPath(e.X)
	}
	return false
}

// checksError reports whether a statement is "if err != nil { … }" that leaves.
func (o *readOnlyTx) checksError(s ast.Stmt) bool {
	i, ok := s.(*ast.IfStmt)
	if !ok || i.Else != nil || i.Init != nil || !o.x.leaves(i.Body) && !o.ends(i.Body) {
		return false
	}
	return isError(o.x.typeOf(notNil(o.x.pass.TypesInfo, i.Cond)))
}

// ends reports whether a block's last statement is a call that does not return.
func (o *readOnlyTx) ends(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	s, ok := b.List[len(b.List)-1].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	return ok && isFunc(o.x.callee(call), "log", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf")
}

// endOf returns the statements to remove with a Commit or Rollback, or reports
// that the call becomes nil, as in "return tx.Commit()".
func (o *readOnlyTx) endOf(call *ast.CallExpr) (gone []ast.Node, replaced bool) {
	switch p := o.x.parent[call].(type) {
	case *ast.ExprStmt:
		if lit, ok := o.x.parent[o.x.parent[p]].(*ast.FuncLit); ok {
			return o.deferred(lit)
		}
		return []ast.Node{p}, false
	case *ast.DeferStmt:
		return []ast.Node{p}, false
	case *ast.ReturnStmt:
		return nil, true
	case *ast.AssignStmt:
		return o.assignedEnd(p)
	}
	return nil, false
}

// deferred removes "defer func() { tx.Rollback() }()" whole.
func (o *readOnlyTx) deferred(lit *ast.FuncLit) ([]ast.Node, bool) {
	d, ok := o.x.parent[o.x.parent[lit]].(*ast.DeferStmt)
	if !ok || len(lit.Body.List) != 1 {
		return nil, false
	}
	return []ast.Node{d}, false
}

// assignedEnd removes "if err := tx.Commit(); err != nil { … }", "err = tx.Commit()"
// with its check, and "_ = tx.Rollback()".
func (o *readOnlyTx) assignedEnd(a *ast.AssignStmt) ([]ast.Node, bool) {
	if i, ok := o.x.parent[a].(*ast.IfStmt); ok && i.Init == ast.Stmt(a) && i.Else == nil {
		return []ast.Node{i}, false
	}
	block, ok := o.x.parent[a].(*ast.BlockStmt)
	if !ok {
		return nil, false
	}
	if lit, ok := o.x.parent[block].(*ast.FuncLit); ok {
		return o.deferred(lit)
	}
	if isBlank(a.Lhs[0]) {
		return []ast.Node{a}, false
	}
	next := slices.Index(block.List, ast.Stmt(a)) + 1
	if next >= len(block.List) || !o.checksError(block.List[next]) {
		return nil, false
	}
	return []ast.Node{a, block.List[next]}, false
}

// keepError declares the error variable where Begin declared it, if other
// statements still use it.
func (o *readOnlyTx) keepError(rw *rewrite, a *ast.AssignStmt, block *ast.BlockStmt, gone []ast.Node) {
	if len(a.Lhs) != 2 {
		return
	}
	id, ok := a.Lhs[1].(*ast.Ident)
	v := o.x.variable(a.Lhs[1])
	if !ok || v == nil || o.x.defs[v] != id {
		return
	}
	for _, use := range o.x.uses[v] {
		if slices.ContainsFunc(gone, func(n ast.Node) bool { return within(use, n) }) {
			continue
		}
		first, isAssign := o.x.parent[use].(*ast.AssignStmt)
		if isAssign && o.x.parent[first] == ast.Node(block) {
			if first.Tok == token.DEFINE {
				return
			}
			if first.Tok == token.ASSIGN && len(first.Lhs) == 1 {
				rw.put(first.TokPos, first.TokPos+1, ":=")
				return
			}
		}
		from, _ := o.x.lines(a)
		rw.insert(from, "var "+id.Name+" error\n")
		return
	}
}
