package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Requests that only read may hold a file lock together: who writes still waits for all of
// them, in every process. A writer may have to wait longer, since the system does not let it go
// before readers that come later.

// share is the rewrite of an exclusive file lock: in the function that answers the request, or
// in one that takes the lock for several, whose twin the readers call.
func (l *lockSearch) share(c *ast.CallExpr) (fix analysis.SuggestedFix, ok bool) {
	rw := l.x.rewrite()
	d, isDecl := l.x.function(c).(*ast.FuncDecl)
	if !l.r.needs(isDecl, c, "the lock is taken in a function literal") {
		return fix, false
	}
	fn, _ := l.x.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if !l.hands(d) {
		if !l.onlyReads(c, d) {
			return fix, false
		}
		l.shared(rw, c)
		return rw.fix("share the lock among requests that only read")
	}
	var readers []*ast.CallExpr
	for _, call := range l.x.calls[fn] {
		if at, ok := l.x.function(call).(*ast.FuncDecl); ok && l.onlyReads(call, at) {
			readers = append(readers, call)
		}
	}
	if len(readers) == 0 { // the reason is that of the last call
		return fix, l.r.needs(len(l.x.calls[fn]) > 0, c, "nothing calls %s", d.Name.Name) && false
	}
	name := l.x.fresh(d.Name.Name + "Shared")
	source := newSource(l.x.pass, d.Pos())
	if !l.r.needs(source != nil && (d.Recv == nil || len(d.Recv.List[0].Names) == 1), d, "the function that locks cannot be repeated") {
		return fix, false
	}
	for _, call := range readers {
		f := call.Fun
		if sel, ok := ast.Unparen(f).(*ast.SelectorExpr); ok {
			f = sel.Sel
		}
		rw.replace(f, name)
	}
	twin := source.text(d.Pos(), d.Name.Pos()) + name + source.text(d.Name.End(), c.Args[1].Pos()) +
		strings.ReplaceAll(l.x.text(c.Args[1]), "LOCK_EX", "LOCK_SH") + source.text(c.Args[1].End(), d.End())
	_, end := l.x.lines(posNode(d.Body.Rbrace))
	rw.insert(end, fmt.Sprintf("\n// %s does so for requests that only read: they hold the lock together.\n%s\n", name, twin))
	return rw.fix("share the lock among requests that only read")
}

// shared edits the lock in place.
func (l *lockSearch) shared(rw *rewrite, c *ast.CallExpr) {
	rw.replace(c.Args[1], strings.ReplaceAll(l.x.text(c.Args[1]), "LOCK_EX", "LOCK_SH"))
}

// hands reports whether a function that locks returns what holds the lock.
func (l *lockSearch) hands(d *ast.FuncDecl) bool {
	if d.Type.Results == nil {
		return false
	}
	for _, r := range d.Type.Results.List {
		if t := l.x.typeOf(r.Type); t != nil && !isError(t) {
			return true
		}
	}
	return false
}

// onlyReads reports whether a function only reads from a call on: it sends SELECTs, sets
// nothing but variables of its own, and changes no file.
func (l *lockSearch) onlyReads(from *ast.CallExpr, d *ast.FuncDecl) bool {
	if !l.r.needs(!insideLoop(l.x, from, d), from, "the lock is taken in a loop") {
		return false
	}
	l.asks = false
	ok := true
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if s, isStmt := n.(ast.Stmt); isStmt && s.End() <= from.Pos() {
			return false
		}
		if n != nil && n.Pos() > from.End() {
			ok = ok && l.reads(n, d, deepestHelper)
			if call, isCall := n.(*ast.CallExpr); isCall && l.x.callee(call) == l.x.callee(from) && l.x.callee(from) != nil && l.x.decls[l.x.callee(from)] != nil {
				ok = l.r.no(call, "%s locks a second time", d.Name.Name)
			}
		}
		return ok
	})
	return ok && l.r.needs(l.asks, from, "%s sends no statement while it holds the lock", d.Name.Name)
}

// reads reports whether a node by itself has no effect but on local variables. Functions of the
// package are followed.
func (l *lockSearch) reads(n ast.Node, d *ast.FuncDecl, depth int) bool {
	switch n := n.(type) {
	case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt:
		return l.r.no(n, "%s does more than read while it holds the lock", d.Name.Name)
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			if !l.r.needs(l.own(e, d), e, "%s sets what is not its own while it holds the lock", d.Name.Name) {
				return false
			}
		}
	case *ast.IncDecStmt:
		return l.r.needs(l.own(n.X, d), n, "%s sets what is not its own while it holds the lock", d.Name.Name)
	case *ast.CallExpr:
		return l.r.needs(l.readsCall(n, depth), n, "%s does more than read while it holds the lock", d.Name.Name)
	}
	return true
}

// own reports whether what is set is a variable that the function declares, or a result.
func (l *lockSearch) own(e ast.Expr, d *ast.FuncDecl) bool {
	id := rootIdent(e)
	if id == nil {
		return false
	}
	if id.Name == "_" {
		return true
	}
	v, ok := l.x.pass.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok || !isLocal(v) {
		return false
	}
	if _, whole := ast.Unparen(e).(*ast.Ident); !whole && !l.made(v) {
		return false
	}
	at := l.x.defs[v]
	return at != nil && (within(at, d.Body) || d.Type.Results != nil && within(at, d.Type.Results))
}

// made reports whether a variable is a value of its own, or points to what the function has
// made, so that nothing else sees what is set in it.
func (l *lockSearch) made(v *types.Var) bool {
	switch v.Type().Underlying().(type) {
	case *types.Struct, *types.Array, *types.Basic:
		return true
	}
	value := l.x.fixedValue(v)
	if u, ok := value.(*ast.UnaryExpr); ok {
		value = u.X
	}
	switch value := value.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return isBuiltin(l.x.pass.TypesInfo, value, "make") || isBuiltin(l.x.pass.TypesInfo, value, "new")
	}
	return false
}

// readsCall reports whether a call only reads.
func (l *lockSearch) readsCall(c *ast.CallExpr, depth int) bool {
	if sent := l.sql.At(c); sent != nil {
		l.asks = true
		return onlySelects(sent) && !slices.ContainsFunc(sent.All(), locksRows)
	}
	tv := l.x.pass.TypesInfo.Types[c.Fun]
	if tv.IsType() || tv.IsBuiltin() || chained(l.sql, c) {
		return true
	}
	fn := l.x.callee(c)
	switch {
	case fn == nil:
		return false
	case fn.Pkg() == nil:
		return true
	case l.x.decls[fn] != nil && l.x.decls[fn].Body != nil:
		d, ok := l.x.decls[fn], depth > 0
		ast.Inspect(d.Body, func(n ast.Node) bool {
			ok = ok && (n == nil || l.reads(n, d, depth-1))
			return ok
		})
		return ok
	}
	still := quietness{pass: l.x.pass, calls: l.sql}
	return still.quietFunc(fn) || slices.Contains(harmlessPackages, fn.Pkg().Path()) || answers(fn) || contextual(l.x.pass, c) || leavesLock(fn)
}

// locksRows reports whether a SELECT locks the rows that it reads.
func locksRows(sql string) bool {
	s, err := parse(sql)
	return err != nil || sqltext.Locks(s.tokens)
}

// leavesLock reports whether a function reads on, answers, closes a file or a pool, or unlocks.
func leavesLock(fn *types.Func) bool {
	return isFunc(fn, "os", "File.Close", "File.Fd") || isFunc(fn, "database/sql", "DB.Close", "Rows.Close", "Rows.Next", "Rows.Scan", "Rows.Err", "Row.Scan") ||
		isFunc(fn, "encoding/json", "Encoder.Encode") || isFunc(fn, "syscall", "Flock") || isFunc(fn, "golang.org/x/sys/unix", "Flock")
}
