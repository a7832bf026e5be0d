package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var rowByRowInsert = Lever{Code: "APP204", Title: "one statement per element",
	Line:    "an INSERT or an UPDATE runs once per element of a loop",
	Promise: NoPromise, Order: 4, Saved: Share{Lo: 0.3, Hi: 0.9}, Of: OfStatements,
	find: findRowByRowInserts, whole: perElementInserts,
}

// findRowByRowInserts finds an INSERT or an UPDATE that runs once per element of a loop.
func findRowByRowInserts(r *reporter) error {
	l := &rowByRow{reporter: r, calls: callsOf(r.pass)}
	l.still = quietness{pass: r.pass, calls: l.calls}
	for _, c := range l.calls.Calls {
		if c.Loop == nil || c.Text == nil || c.Text.Holes > 0 || leftAlone(r.pass, c) {
			continue
		}
		if c.Op == sqlcall.Exec {
			l.visit(c)
		} else if c.Op != sqlcall.Prepare {
			l.returning(c)
		}
	}
	return nil
}

type rowByRow struct {
	*reporter
	still quietness
	calls *sqlcall.Result
}

func (l *rowByRow) visit(c *sqlcall.Call) {
	ins, ok := insertOf(c.SQL())
	unread := !ok && adds(c.SQL())
	if !ok && !unread {
		l.visitUpdate(c)
		return
	}
	if l.triesAgain(c) {
		return
	}
	p := place{node: c.Expr, statements: []string{c.SQL()}, what: "one INSERT is sent per element of the loop", how: "insert many rows by one statement"}
	if unread {
		l.no(c.Expr, textUnread)
	} else if e, ok := l.execution(c, ins); ok {
		l.no(c.Expr, nameTaken)
		if edits, ok := e.edits(); ok {
			p.fixes = suggested("Insert many rows by one statement", edits)
		}
	}
	l.report(p)
}

// returning reports an INSERT in a loop that returns what it has stored, as PostgreSQL, MariaDB
// and SQLite do.
func (l *rowByRow) returning(c *sqlcall.Call) {
	tokens, ok := sqltext.Unknown.Tokens(c.SQL())
	if !ok || len(tokens) == 0 || !tokens[0].Is("INSERT") || sqltext.Find(tokens, 0, "RETURNING") < 0 || sqltext.Find(tokens, 0, "SELECT") >= 0 || sqltext.Placeholders(tokens) == 0 || l.triesAgain(c) {
		return
	}
	l.no(c.Expr, "the row that the statement returns is used, as the id of each row")
	l.report(place{node: c.Expr, statements: []string{c.SQL()}, what: "one INSERT is sent per element of the loop", how: "insert many rows by one statement"})
}

// adds reports whether a statement that cannot be parsed begins as an INSERT of placeholders.
func adds(sql string) bool {
	if _, err := parse(sql); err == nil {
		return false
	}
	tokens, ok := sqltext.Unknown.Tokens(sql)
	return ok && len(tokens) > 0 && tokens[0].Is("INSERT") && sqltext.Placeholders(tokens) > 0 && sqltext.Find(tokens, 0, "SELECT") < 0
}

// An execution is an Exec in a loop with all that a rewrite needs.
type execution struct {
	*rowByRow
	call     *sqlcall.Call
	ins      rowInsert
	rows     int      // of one statement
	loop     ast.Stmt // with its label, if any
	body     *ast.BlockStmt
	moved    []ast.Stmt // the Exec and the check of its error
	prepared []ast.Stmt // statements that prepare and close, to be removed
	// element is the variable of the loop that the handling of an error of a named
	// statement names, as in the error's text; nil if it names none.
	element *ast.Ident
	// ownError is the variable of the error if another statement of the body declares
	// it: the second loop declares its own.
	ownError types.Object
	// elements are the arguments that the handling of an error names otherwise, and aside
	// the variables of the loop that it names beside them.
	elements []namedArgument
	aside    []asideVariable
	taken    map[string]bool // names around the loop
	whole    bool            // the text of the statement is written anew
	// update is the statement where it changes rows, and values the list of its arguments.
	update *rowUpdate
	values string
}

// execution checks that the rewrite keeps the meaning.
func (l *rowByRow) execution(c *sqlcall.Call, ins rowInsert) (*execution, bool) {
	e := &execution{rowByRow: l, call: c, ins: ins, rows: ins.chunkRows(l.facts.Tables[ins.table]), loop: c.Loop}
	switch loop := c.Loop.(type) {
	case *ast.RangeStmt:
		e.body = loop.Body
		if t := l.pass.TypesInfo.TypeOf(loop.X); t != nil {
			if _, isFunc := t.Underlying().(*types.Signature); isFunc {
				return nil, l.no(loop, "the loop goes over an iterator, which may read the table")
			}
			if _, isChan := t.Underlying().(*types.Chan); isChan {
				return nil, l.no(loop, "the loop goes over a channel: the next element may wait for this one")
			}
		}
	case *ast.ForStmt:
		e.body = loop.Body
		for _, s := range []ast.Stmt{loop.Init, loop.Post} {
			if s != nil && !l.still.quiet(s) {
				return nil, l.no(s, "the head of the loop does more than count")
			}
		}
		if loop.Cond == nil || !l.still.quiet(loop.Cond) {
			return nil, l.no(loop, "the head of the loop has no condition, or one that does more than compare")
		}
	}
	_, labeled := parentOf(l.pass, c.Loop).(*ast.LabeledStmt)
	if !l.needs(!labeled, c.Loop, "the loop has a label") || !l.needs(e.rows > 0 && !c.Spread, c.Expr, "the arguments are a list, or a row has too many for a statement of several") {
		return nil, false
	}
	if !l.needs(!c.Text.Bound || e.bindsThere(), c.Expr, "Rebind gives the text the placeholders of its database before the loop") {
		return nil, false
	}
	return e, l.needs(!e.resultUsed(), c.Expr, "the result of the statement is used, as the id of each row") && l.needs(e.split(), c.Expr, "the statement and the check of its error that leaves the function are not statements of the loop's body") &&
		l.needs(e.errorKeeps(), e.moved[0], "the loop uses the variable of the error otherwise") &&
		l.needs(e.argumentsKeep(), c.Expr, "an argument may have another value when the loop has ended") &&
		l.needs(e.othersQuiet(), e.body, "the rest of the loop sends, writes or leaves the function before the rows would be inserted") &&
		l.needs(e.movedIndependent(), e.moved[0], "the handling of the error names a variable of the loop") &&
		l.needs(e.preparation(), c.Expr, "the prepared statement is used or closed otherwise")
}

// triesAgain reports whether a loop sends the statement again after an error alone: its body
// ends by leaving it, so that it adds one row and goes over no elements.
func (l *rowByRow) triesAgain(c *sqlcall.Call) bool {
	loop, ok := c.Loop.(*ast.ForStmt)
	if !ok || len(loop.Body.List) == 0 {
		return false
	}
	switch last := loop.Body.List[len(loop.Body.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK
	}
	return false
}

// resultUsed reports whether the result of the statement is kept in a variable.
func (e *execution) resultUsed() bool {
	a, ok := above(e.call.Cursor).Node().(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 2 {
		return false
	}
	id, isIdent := a.Lhs[0].(*ast.Ident)
	return !isIdent || id.Name != "_"
}

// split finds the statements that execute and check: in the body, or in a branch of it.
func (e *execution) split() bool {
	for i, s := range e.home() {
		if s.Pos() > e.call.Pos() || s.End() < e.call.Expr.End() {
			continue
		}
		switch s := s.(type) {
		case *ast.ExprStmt: // MustExec
			e.moved = []ast.Stmt{s}
			return s.X == e.call.Expr && e.call.Must
		case *ast.IfStmt: // if _, err := Exec(); err != nil {
			e.moved = []ast.Stmt{s}
			a, ok := s.Init.(*ast.AssignStmt)
			return ok && e.takesError(a) && e.leaves(s, a)
		case *ast.AssignStmt:
			if i+1 >= len(e.home()) {
				return false
			}
			check, ok := e.home()[i+1].(*ast.IfStmt)
			e.moved = []ast.Stmt{s, e.home()[i+1]}
			return ok && check.Init == nil && e.takesError(s) && e.leaves(check, s)
		}
	}
	return false
}

// takesError reports whether an assignment is _, err := Exec(…).
func (e *execution) takesError(a *ast.AssignStmt) bool {
	if len(a.Lhs) != 2 || len(a.Rhs) != 1 || a.Rhs[0] != e.call.Expr {
		return false
	}
	blank, ok := a.Lhs[0].(*ast.Ident)
	err, isIdent := a.Lhs[1].(*ast.Ident)
	return ok && isIdent && blank.Name == "_" && err.Name != "_"
}

// leaves reports whether an if statement ends the loop when the error of an
// assignment is not nil.
func (e *execution) leaves(s *ast.IfStmt, a *ast.AssignStmt) bool {
	b, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ || s.Else != nil || len(s.Body.List) == 0 {
		return false
	}
	x, isIdent := b.X.(*ast.Ident)
	info := e.pass.TypesInfo
	if !isIdent || info.ObjectOf(x) != info.ObjectOf(a.Lhs[1].(*ast.Ident)) || !info.Types[b.Y].IsNil() {
		return false
	}
	return ends(info, s.Body)
}

// ends reports whether a block leaves the function: it ends with a return, a panic
// or an exit, and has no other jump.
func ends(info *types.Info, b *ast.BlockStmt) bool {
	jumps := false
	ast.Inspect(b, func(n ast.Node) bool {
		_, isBranch := n.(*ast.BranchStmt)
		jumps = jumps || isBranch
		return !jumps
	})
	if jumps {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		if isBuiltin(info, call, "panic") {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		f, ok := info.Uses[sel.Sel].(*types.Func)
		return ok && slices.Contains([]string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln"}, f.FullName())
	}
	return false
}

// argumentsKeep reports whether the arguments have the same values when they are
// collected first and sent later.
func (e *execution) argumentsKeep() bool {
	if e.call.Named {
		return len(e.call.Args) == 1 && e.ins.params > 0 && !e.ins.tail && e.keeps(e.call.Args[0])
	}
	if len(e.call.Args) != e.ins.params {
		return false
	}
	return !slices.ContainsFunc(e.call.Args, func(a ast.Expr) bool { return !e.keeps(a) })
}

func (e *execution) keeps(a ast.Expr) bool {
	if !e.still.quiet(a) {
		return false
	}
	if lit, ok := ast.Unparen(a).(*ast.CompositeLit); ok { // a value of its own
		return !slices.ContainsFunc(lit.Elts, func(x ast.Expr) bool {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			return !e.keeps(x)
		})
	}
	t := e.pass.TypesInfo.TypeOf(a)
	switch t.Underlying().(type) {
	case *types.Basic, *types.Struct, *types.Array:
		return true
	case *types.Slice, *types.Map, *types.Pointer, *types.Interface:
		// What it refers to must not change within the loop.
		if u, ok := ast.Unparen(a).(*ast.UnaryExpr); ok && u.Op == token.AND {
			return false
		}
		id := rootIdent(ast.Unparen(a))
		if id == nil {
			_, call := ast.Unparen(a).(*ast.CallExpr)
			return call // a value of its own: []byte(s), json.Marshal
		}
		return !e.changed(e.pass.TypesInfo.ObjectOf(id))
	}
	return false
}

// changed reports whether the body may change what a variable refers to.
func (e *execution) changed(obj types.Object) bool {
	outside := obj.Pos() < e.body.Pos() || obj.Pos() > e.body.End()
	found := false
	for _, s := range e.others() {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					_, plain := l.(*ast.Ident)
					if id := rootIdent(l); id != nil && e.pass.TypesInfo.ObjectOf(id) == obj && (outside || !plain) {
						found = true
					}
				}
			case *ast.CallExpr: // a function may write through it
				for _, arg := range n.Args {
					if id := rootIdent(ast.Unparen(arg)); id != nil && e.pass.TypesInfo.ObjectOf(id) == obj && !isBuiltin(e.pass.TypesInfo, n, "len") {
						found = true
					}
				}
			}
			return !found
		})
	}
	return found
}

// movedIndependent reports whether the statements that leave the loop use nothing
// that is declared in it, but for the arguments, and declare nothing that stays.
func (e *execution) movedIndependent() bool {
	first, last := e.moved[0], e.moved[len(e.moved)-1]
	within := func(n ast.Node, a, b token.Pos) bool { return a <= n.Pos() && n.End() <= b }
	ok := true
	ast.Inspect(e.loop, func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent || !ok {
			return ok
		}
		obj := e.pass.TypesInfo.ObjectOf(id)
		if obj == nil || !obj.Pos().IsValid() {
			return true
		}
		inLoop := e.loop.Pos() <= obj.Pos() && obj.Pos() < e.loop.End()
		declaredMoved := first.Pos() <= obj.Pos() && obj.Pos() < last.End()
		moved := within(id, first.Pos(), last.End())
		if moved && len(e.call.Args) > 0 && within(id, e.call.Args[0].Pos(), e.call.Args[len(e.call.Args)-1].End()) {
			moved = false // the arguments stay
		}
		if moved && inLoop && !declaredMoved || !moved && declaredMoved {
			if _, isField := obj.(*types.Var); isField && obj.(*types.Var).IsField() {
				return true
			}
			if moved && (obj == e.ownError || e.nameable(id)) {
				return true
			}
			ok = false
		}
		return true
	})
	return ok && e.handleKeeps()
}

// handle is what the new statement goes through.
func (e *execution) handle() sqlcall.Handle {
	if e.call.Prepared != nil {
		return e.call.Prepared.Handle
	}
	return e.call.Handle
}

// handleKeeps reports whether the handle is a chain of names that the loop does
// not set.
func (e *execution) handleKeeps() bool {
	id := rootIdent(e.handle().Expr)
	if id == nil {
		return false
	}
	ok := true
	ast.Inspect(e.loop, func(n ast.Node) bool {
		if a, isAssign := n.(*ast.AssignStmt); isAssign {
			for _, l := range a.Lhs {
				if r := rootIdent(l); r != nil && e.pass.TypesInfo.ObjectOf(r) == e.pass.TypesInfo.ObjectOf(id) {
					ok = false
				}
			}
		}
		return ok
	})
	return ok
}

// preparation finds the statements that only serve a prepared statement: they are
// removed. ok is true for a call without one.
func (e *execution) preparation() bool {
	if e.call.Handle.Kind != sqlcall.Stmt {
		return true
	}
	if e.call.Prepared == nil || e.call.Named {
		return false
	}
	a, ok := above(e.call.Prepared.Cursor).Node().(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 2 {
		return false
	}
	info := e.pass.TypesInfo
	stmt, isIdent := a.Lhs[0].(*ast.Ident)
	errID, isErr := a.Lhs[1].(*ast.Ident)
	block, isBlock := above(above(e.call.Prepared.Cursor)).Node().(*ast.BlockStmt)
	if !isIdent || !isErr || !isBlock {
		return false
	}
	at := slices.Index(block.List, ast.Stmt(a))
	if at < 0 || at+1 >= len(block.List) {
		return false
	}
	check, isIf := block.List[at+1].(*ast.IfStmt)
	if !isIf || check.Init != nil || check.Else != nil || !ends(info, check.Body) {
		return false
	}
	e.prepared = []ast.Stmt{a, check}
	closed := 0
	for _, s := range block.List[at+2:] {
		if closesOnly(info, s, info.ObjectOf(stmt)) {
			e.prepared = append(e.prepared, s)
			closed++
		}
	}
	if e.calls.Uses[info.ObjectOf(stmt)] != closed+1 {
		return false
	}
	if info.Defs[errID] == nil {
		return true // declared before
	}
	uses := 0
	ast.Inspect(check, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && info.Uses[id] == info.Defs[errID] {
			uses++
		}
		return true
	})
	return e.calls.Uses[info.Defs[errID]] == uses
}

// closesOnly reports whether a statement is stmt.Close() or defer stmt.Close().
func closesOnly(info *types.Info, s ast.Stmt, stmt types.Object) bool {
	var call *ast.CallExpr
	switch s := s.(type) {
	case *ast.DeferStmt:
		call = s.Call
	case *ast.ExprStmt:
		call, _ = s.X.(*ast.CallExpr)
	}
	if call == nil {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Close" {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && info.ObjectOf(id) == stmt
}
