package rewrite

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

var workUnderLock = Lever{Code: "APP211", Title: "work under a lock",
	Line:    "a request waits outside of the process while it holds a lock",
	Promise: TestedOnly, Order: 12, Saved: Share{Lo: 0, Hi: 0.3}, Of: OfFunction,
	find: findWorkUnderLocks,
}

// findWorkUnderLocks finds work that waits while a lock is held that all requests share.
// There is no rewrite of a lock in memory: what it protects is not known. A file lock becomes a
// shared one for requests that only read.
func findWorkUnderLocks(r *reporter) error {
	l := &lockSearch{r: r, x: indexOf(r.pass), sql: r.pass.ResultOf[sqlcall.Analyzer].(*sqlcall.Result)}
	for fn, calls := range l.x.calls {
		if isFunc(fn, "sync", "Mutex.Lock", "RWMutex.Lock", "Locker.Lock") {
			for _, c := range calls {
				l.lock(c)
			}
		}
		if isFunc(fn, "syscall", "Flock") || isFunc(fn, "golang.org/x/sys/unix", "Flock") {
			for _, c := range calls {
				l.fileLock(c)
			}
		}
	}
	return nil
}

type lockSearch struct {
	r   *reporter
	x   *index
	sql *sqlcall.Result
	// asks: the section under examination sends a statement.
	asks bool
}

// lock reports a lock whose section waits for something outside of the process.
func (l *lockSearch) lock(c *ast.CallExpr) {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || !l.x.inRequest(c) || l.local(sel.X) {
		return
	}
	if waits := l.section(c, sel); waits != "" {
		name := l.x.text(sel.X)
		l.r.report(place{node: c, what: waits + " while the lock " + name + " is held", how: "do it before or after the lock, or lock only what the request needs",
			why: refusal{c, "whether what the lock guards may change meanwhile is not written in types"}})
	}
}

// section names the first thing that waits behind a call of Lock, up to Unlock or the end of
// the block; "" for none.
func (l *lockSearch) section(c *ast.CallExpr, sel *ast.SelectorExpr) string {
	stmt, ok := l.x.parent[c].(*ast.ExprStmt)
	if !ok {
		return ""
	}
	block, ok := l.x.parent[stmt].(*ast.BlockStmt)
	if !ok {
		return ""
	}
	name := l.x.text(sel.X)
	for _, s := range block.List[slices.Index(block.List, ast.Stmt(stmt))+1:] {
		if l.isUnlock(s, name) {
			break
		}
		if waits := l.waits(s, 4); waits != "" {
			return waits
		}
	}
	return ""
}

// local reports whether the lock is a variable of the function.
func (l *lockSearch) local(e ast.Expr) bool {
	for {
		switch s := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			if v, ok := l.x.named(s).(*types.Var); ok && !v.IsField() {
				return false
			}
			e = s.X
			continue
		case *ast.Ident:
			v := l.x.variable(s)
			if v == nil || v.Parent() == l.x.pass.Pkg.Scope() {
				return false
			}
			return l.x.fixedValue(v) == nil && enclosing[*ast.FieldList](l.x, l.x.defs[v]) == nil
		}
		return false
	}
}

func (l *lockSearch) isUnlock(s ast.Stmt, name string) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Unlock" && l.x.text(sel.X) == name
}

// waits names the first thing in a node that waits for a database, another server,
// a program, a file or the clock; "" for none. Functions of the package are followed.
func (l *lockSearch) waits(n ast.Node, depth int) (what string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.CallExpr:
			if what == "" {
				what = l.waitsCall(n, depth)
			}
		}
		return what == ""
	})
	return what
}

func (l *lockSearch) waitsCall(c *ast.CallExpr, depth int) string {
	if l.sql.At(c) != nil {
		return "a statement runs"
	}
	fn := l.x.callee(c)
	switch {
	case fn == nil:
		return ""
	case isFunc(fn, "net/http", "Get", "Post", "Head", "PostForm", "Client.Do", "Client.Get", "Client.Post", "Client.Head", "Client.PostForm"):
		return "another server is requested"
	case isFunc(fn, "os/exec", "Cmd.Run", "Cmd.Output", "Cmd.CombinedOutput", "Cmd.Wait"):
		return "a program runs"
	case isFunc(fn, "os", "ReadFile", "WriteFile", "Open", "Create", "OpenFile", "ReadDir"), isFunc(fn, "io/ioutil", "ReadFile", "WriteFile"):
		return "a file is read or written"
	case isFunc(fn, "time", "Sleep"):
		return "the code sleeps"
	}
	if d := l.x.decls[fn]; d != nil && d.Body != nil && depth > 0 {
		return l.waits(d.Body, depth-1)
	}
	return ""
}

// fileLock reports an exclusive lock of a file in a request.
func (l *lockSearch) fileLock(c *ast.CallExpr) {
	if !l.x.inRequest(c) || len(c.Args) != 2 {
		return
	}
	exclusive := false
	ast.Inspect(c.Args[1], func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		exclusive = exclusive || ok && id.Name == "LOCK_EX"
		return !exclusive
	})
	if !exclusive {
		return
	}
	p := place{node: c, what: "a file is locked for each request", how: "share the lock among requests that only read"}
	if fix, ok := l.share(c); ok {
		p.fixes, p.proof, p.promise = fix1(fix), Tested, TestedOnly
	}
	l.r.report(p)
}
