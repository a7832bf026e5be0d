package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcall"
)

var commitPerWrite = Lever{Code: "APP219", Title: "each write to a SQLite file commits by itself",
	Line:    "a loop writes to a SQLite file without a transaction",
	Promise: TestedOnly, Order: 17, Saved: Share{Lo: 0.3, Hi: 0.9}, Of: OfStatements,
	find: findCommitsPerWrite,
}

// findCommitsPerWrite finds loops whose writes to a SQLite file commit one by one: each commit
// locks the file and syncs it.
func findCommitsPerWrite(r *reporter) error {
	l := &fileWrites{reporter: r, calls: callsOf(r.pass)}
	l.still = quietness{pass: r.pass, calls: l.calls}
	seen := map[ast.Stmt]bool{}
	for _, c := range l.calls.Calls {
		if c.Loop != nil && c.Handle.Kind == sqlcall.DB && writes(c) && !skipped(r.pass, c.Pos()) {
			l.visit(c, seen)
		}
	}
	return nil
}

type fileWrites struct {
	*reporter
	calls *sqlcall.Result
	still quietness
	pools *pools // made at first use
}

// writes reports whether a call sends a statement that changes rows.
func writes(c *sqlcall.Call) bool {
	tokens, _ := sqltext.Unknown.Tokens(c.SQL())
	return c.Op == sqlcall.Exec && len(tokens) > 0 && tokens[0].Is("INSERT", "UPDATE", "DELETE", "REPLACE")
}

// A unitOfWork is the statements of a function that become one transaction.
type unitOfWork struct {
	*fileWrites
	call   *sqlcall.Call
	decl   *ast.FuncDecl
	handle types.Object
	tx     types.Type
	list   []ast.Stmt
	sent   []*sqlcall.Call
	served bool // it writes to a server as well
}

func (l *fileWrites) visit(c *sqlcall.Call, seen map[ast.Stmt]bool) {
	if l.pools == nil {
		l.pools = newPools(l.pass)
	}
	decl, ok := c.Func.(*ast.FuncDecl)
	if !ok || l.pools.of(c.Handle.Expr) != filePool {
		return
	}
	at := slices.IndexFunc(decl.Body.List, func(s ast.Stmt) bool { return s.Pos() <= c.Pos() && c.Pos() < s.End() })
	if at < 0 || seen[decl.Body.List[at]] {
		return
	}
	seen[decl.Body.List[at]] = true
	p := place{node: c.Expr, statements: []string{c.SQL()}, what: "each write of the loop commits by itself: it locks the SQLite file and syncs it", how: "write all rows in one transaction"}
	u := &unitOfWork{fileWrites: l, call: c, decl: decl}
	if !l.pools.impatient && u.find(at) { // other writers wait for the whole transaction
		for _, s := range u.list {
			seen[s] = true
		}
		if edits, ok := u.edits(); ok {
			p.fixes = suggested("Write all rows in one transaction", edits)
			if u.served { // a write to the server stays if the transaction fails
				p.proof, p.promise = Tested, TestedOnly
			}
		}
		p.statements = nil
		for _, c := range u.sent {
			if writes(c) {
				p.statements = append(p.statements, c.SQL())
			}
		}
	}
	l.report(p)
}

// find extends the statement with the loop to its neighbours that write to the same
// file, and reports whether they can be one transaction.
func (u *unitOfWork) find(at int) bool {
	id, ok := ast.Unparen(u.call.Handle.Expr).(*ast.Ident)
	if !ok {
		return false
	}
	u.handle = u.pass.TypesInfo.Uses[id]
	if v, isVar := u.handle.(*types.Var); !isVar || v.Parent() == u.pass.Pkg.Scope() || u.calls.Writes[v] > 1 {
		return false
	}
	begin, _, _ := types.LookupFieldOrMethod(u.handle.Type(), true, u.pass.Pkg, u.begin(""))
	fn, ok := begin.(*types.Func)
	if !ok || fn.Signature().Results().Len() != 2 {
		return false
	}
	u.tx = fn.Signature().Results().At(0).Type()
	list := u.decl.Body.List
	if !u.joins(list[at : at+1]) {
		return false
	}
	from, to := at, at+1
	for i := at - 1; i >= 0 && u.joins(list[i:from]); i-- {
		if u.uses(list[i]) {
			from = i
		}
	}
	for i := at + 2; i <= len(list) && u.joins(list[to:i]); i++ {
		if u.uses(list[i-1]) {
			to = i
		}
	}
	u.list = list[from:to]
	f := newFileSends(u.calls, u.still, u.pools, u.handle, u.tx)
	for _, s := range u.list {
		if !f.follow(s, true) {
			return false
		}
	}
	u.sent, u.served = f.sent, f.served
	return true
}

// uses reports whether a statement names the pool.
func (u *unitOfWork) uses(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && u.pass.TypesInfo.Uses[id] == u.handle
		return !found
	})
	return found
}

// joins reports whether statements may be in the transaction: each that names the pool
// writes first, since a transaction that begins as a reader may fail when it writes;
// and each return is one of an error, so that what is taken back was not confirmed.
func (u *unitOfWork) joins(list []ast.Stmt) bool {
	f := newFileSends(u.calls, u.still, u.pools, u.handle, u.tx)
	for _, s := range list {
		if !f.follow(s, true) || !u.failsOnly(s) {
			return false
		}
		if u.uses(s) && !u.writesFirst(s) {
			return false
		}
	}
	return true
}

// writesFirst reports whether the first use of the pool in a statement is a write that
// every round of its loops executes.
func (u *unitOfWork) writesFirst(s ast.Stmt) bool {
	var first *ast.Ident
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && u.pass.TypesInfo.Uses[id] == u.handle && (first == nil || id.Pos() < first.Pos()) {
			first = id
		}
		return true
	})
	path, _ := astutil.PathEnclosingInterval(fileOf(u.pass, first.Pos()), first.Pos(), first.End())
	written := false
	for _, n := range path {
		switch n := n.(type) {
		case *ast.CallExpr:
			if c := u.calls.At(n); c != nil {
				written = writes(c)
			}
		case *ast.IfStmt:
			if n.Body.Pos() <= first.Pos() {
				return false
			}
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.BinaryExpr:
			return false
		case *ast.ForStmt:
			if first.Pos() < n.Body.Pos() {
				return false
			}
		}
		if n == ast.Node(s) {
			return written
		}
	}
	return false
}

// failsOnly reports whether each return within a statement returns an error that is not
// nil.
func (u *unitOfWork) failsOnly(s ast.Stmt) bool {
	ok := true
	ast.Inspect(s, func(n ast.Node) bool {
		if r, is := n.(*ast.ReturnStmt); is {
			ok = ok && len(r.Results) > 0 && u.failure(r.Results[len(r.Results)-1], r)
		}
		return ok
	})
	return ok
}

// errorMakers return an error that is not nil.
var errorMakers = map[string][]string{"fmt": {"Errorf"}, "errors": {"New"}, "github.com/labstack/echo/v4": {"NewHTTPError"}}

// failure reports whether an expression is an error that is not nil at a return.
func (u *unitOfWork) failure(e ast.Expr, at *ast.ReturnStmt) bool {
	info := u.pass.TypesInfo
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		fn, _ := typeutil.Callee(info, e).(*types.Func)
		if fn == nil || fn.Pkg() == nil {
			return false
		}
		return isFunc(fn, fn.Pkg().Path(), errorMakers[fn.Pkg().Path()]...)
	case *ast.Ident:
		path, _ := astutil.PathEnclosingInterval(fileOf(u.pass, at.Pos()), at.Pos(), at.End())
		for i, n := range path[1:] {
			check, ok := n.(*ast.IfStmt)
			if !ok || ast.Node(check.Body) != path[i] {
				continue
			}
			b, ok := check.Cond.(*ast.BinaryExpr)
			if !ok || b.Op != token.NEQ || !info.Types[b.Y].IsNil() {
				return false
			}
			x, ok := b.X.(*ast.Ident)
			return ok && info.ObjectOf(x) == info.ObjectOf(e)
		}
	}
	return false
}

// begin is the method that begins a transaction with a context, or without one.
func (u *unitOfWork) begin(context string) string {
	name := "Begin"
	if context != "" {
		name += "Tx"
	}
	if named := namedOf(u.handle.Type()); named != nil && named.Obj().Pkg().Path() == "github.com/jmoiron/sqlx" {
		name += "x"
	}
	return name
}

// context is the name of the context of the statement, "" if it is not known in front
// of the first statement.
func (u *unitOfWork) context() string {
	id, ok := u.call.Context.(*ast.Ident)
	if !ok {
		return ""
	}
	v, ok := u.pass.TypesInfo.Uses[id].(*types.Var)
	if !ok || v.Parent() != u.pass.TypesInfo.Scopes[u.decl.Type] || v.Pos() > u.list[0].Pos() || u.calls.Writes[v] > 1 {
		return ""
	}
	return id.Name
}

// edits begins the transaction in front of the statements, sends them through it, and
// commits behind them.
func (u *unitOfWork) edits() ([]analysis.TextEdit, bool) {
	first, last := u.list[0], u.list[len(u.list)-1]
	source := newSource(u.pass, first.Pos())
	if source == nil {
		return nil, false
	}
	taken := namesAround(u.pass, first.Pos())
	tx, failed := fresh(taken, "tx", "fileTx", "writesTx"), fresh(taken, "txErr", "fileTxErr")
	zeros, ok := u.zeros(source)
	if !ok || tx == "" || failed == "" {
		return nil, false
	}
	indent, ctx, args := source.indent(first.Pos()), u.context(), ""
	if ctx != "" {
		args = ctx + ", nil"
	}
	back := strings.Join(append(zeros, failed), ", ")
	lines := []string{
		"// One transaction: the file is locked and synced once for all rows.",
		fmt.Sprintf("%s, %s := %s.%s(%s)", tx, failed, u.handle.Name(), u.begin(ctx), args),
		fmt.Sprintf("if %s != nil {", failed),
		"\treturn " + back,
		"}",
		fmt.Sprintf("defer %s.Rollback()", tx),
	}
	out := []analysis.TextEdit{
		edit(first.Pos(), first.Pos(), strings.Join(lines, "\n"+indent)+"\n"+indent),
		edit(last.End(), last.End(), fmt.Sprintf("\n%sif %s := %s.Commit(); %s != nil {\n%s\treturn %s\n%s}", indent, failed, tx, failed, indent, back, indent)),
	}
	for _, s := range u.list {
		ast.Inspect(s, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && u.pass.TypesInfo.Uses[id] == u.handle {
				out = append(out, edit(id.Pos(), id.End(), tx))
			}
			return true
		})
	}
	return out, true
}

// zeros are the results of the function beside the error, which is the last one.
func (u *unitOfWork) zeros(source *sourceText) (out []string, ok bool) {
	fn, _ := u.pass.TypesInfo.Defs[u.decl.Name].(*types.Func)
	results := fn.Signature().Results()
	n := results.Len() - 1
	if n < 0 || !types.Identical(results.At(n).Type(), types.Universe.Lookup("error").Type()) {
		return nil, false
	}
	for i := range n {
		text, ok := zeroOf(u.pass, source.file, results.At(i).Type())
		if !ok {
			return nil, false
		}
		out = append(out, text)
	}
	return out, true
}

// zeroOf writes the zero value of a type.
func zeroOf(pass *analysis.Pass, file *ast.File, t types.Type) (string, bool) {
	switch b := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case b.Info()&types.IsString != 0:
			return `""`, true
		case b.Info()&types.IsBoolean != 0:
			return "false", true
		case b.Info()&types.IsNumeric != 0:
			return "0", true
		}
		return "", false
	case *types.Struct, *types.Array:
		name, ok := typeName(pass, file, t)
		return name + "{}", ok
	}
	return "nil", true
}
