package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

var fileOpenedPerRequest = Lever{Code: "APP218", Title: "a SQLite file is opened for each request",
	Line:    "a SQLite file is opened and closed again and again",
	Promise: TestedOnly, Order: 8, Saved: Share{Lo: 0.05, Hi: 0.4}, Of: OfFunction,
	find: findFileOpens,
}

// findFileOpens finds functions that open a SQLite file for each call, and whose callers
// close it again: each opening reads and parses the schema, and starts with an empty
// page cache.
func findFileOpens(r *reporter) error {
	l := &fileOpens{reporter: r, seen: map[types.Object]bool{}}
	for c := range rootOf(r.pass).Preorder((*ast.CallExpr)(nil)) {
		if !skipped(r.pass, c.Node().Pos()) {
			l.visit(c)
		}
	}
	return nil
}

type fileOpens struct {
	*reporter
	closes int                   // calls of Close by the callers of a function
	seen   map[types.Object]bool // parameters that are being checked, or were
}

func (l *fileOpens) visit(c inspector.Cursor) {
	call := c.Node().(*ast.CallExpr)
	fn, ok := typeutil.Callee(l.pass.TypesInfo, call).(*types.Func)
	if !ok || !isFunc(fn, "database/sql", "Open") && !isFunc(fn, "github.com/jmoiron/sqlx", "Open", "Connect") || len(call.Args) != 2 || !isFileDSN(l.pass, call.Args[1]) {
		return
	}
	opener := declaring(c)
	if opener == nil || opener.Name.Name == "main" || opener.Name.Name == "init" {
		return
	}
	l.closes = 0
	closed, ok := l.closings(opener)
	if l.closes == 0 {
		return // it may be opened once, and be kept
	}
	p := place{node: call, what: fmt.Sprintf("each call of %s opens a SQLite file", goapp.FuncName(opener)), how: "keep the file open, and open it again when another file has its name", proof: Tested}
	if ok {
		if edits, ok := l.edits(call, opener, closed); ok {
			p.fixes = suggested("Keep the files open", edits)
		}
	}
	l.report(p)
}

// declaring is the declared function around a call, nil within a function literal.
func declaring(c inspector.Cursor) *ast.FuncDecl {
	for up := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		d, _ := up.Node().(*ast.FuncDecl)
		return d
	}
	return nil
}

// closings finds the statements by which callers close what a function returns. ok is
// false if a caller does anything with the pool that could close it or keep it in
// another way.
func (l *fileOpens) closings(opener *ast.FuncDecl) (closed []ast.Stmt, ok bool) {
	fn, _ := l.pass.TypesInfo.Defs[opener.Name].(*types.Func)
	if fn == nil || fn.Exported() && l.pass.Pkg.Name() != "main" || opener.Type.Results == nil || len(opener.Type.Results.List) != 2 {
		return nil, false
	}
	ok = l.returnsIt(opener)
	for _, use := range usesOf(l.pass, fn) {
		more, known := l.closing(use)
		ok = ok && known
		closed = append(closed, more...)
	}
	return closed, ok
}

// closing reads one use of the function: db, err := f(…).
func (l *fileOpens) closing(use inspector.Cursor) (closed []ast.Stmt, ok bool) {
	up := use.Parent()
	if _, is := up.Node().(*ast.SelectorExpr); is {
		up = up.Parent()
	}
	call, isCall := up.Node().(*ast.CallExpr)
	a, isAssign := up.Parent().Node().(*ast.AssignStmt)
	if !isCall || !isAssign || len(a.Lhs) != 2 || len(a.Rhs) != 1 || a.Rhs[0] != call {
		return nil, false
	}
	id, isIdent := a.Lhs[0].(*ast.Ident)
	if !isIdent || l.pass.TypesInfo.Defs[id] == nil {
		return nil, false
	}
	ok = true
	for _, u := range usesOf(l.pass, l.pass.TypesInfo.Defs[id]) {
		sel, isSel := u.Parent().Node().(*ast.SelectorExpr)
		switch {
		case isSel && sel.Sel.Name == "Close":
			l.closes++
			inner, isCall := u.Parent().Parent().Node().(*ast.CallExpr)
			s, isDefer := u.Parent().Parent().Parent().Node().(*ast.DeferStmt)
			if isCall && isDefer && s.Call == inner {
				closed = append(closed, s)
			} else {
				ok = false
			}
		case isSel && strings.HasPrefix(sel.Sel.Name, "SetMax"), isSel && strings.HasPrefix(sel.Sel.Name, "SetConn"):
			ok = false
		case !isSel && !l.lent(u):
			ok = false
		}
	}
	return closed, ok
}

// lent reports whether a variable is passed to a function of this package, which does
// not close it.
func (l *fileOpens) lent(u inspector.Cursor) bool {
	call, ok := u.Parent().Node().(*ast.CallExpr)
	if !ok {
		return false
	}
	fn, ok := typeutil.Callee(l.pass.TypesInfo, call).(*types.Func)
	if !ok {
		return false
	}
	if p := fn.Pkg(); p != nil && p.Path() == "github.com/jmoiron/sqlx" {
		return true
	}
	decl := callsOf(l.pass).Decl(fn)
	if decl == nil {
		return false
	}
	i := slices.Index(call.Args, u.Node().(ast.Expr))
	n := 0
	for _, field := range decl.Type.Params.List {
		for _, name := range field.Names {
			if n == i {
				return l.keepsOpen(l.pass.TypesInfo.Defs[name])
			}
			n++
		}
	}
	return false
}

// keepsOpen reports whether a parameter is used for statements only, or passed on.
func (l *fileOpens) keepsOpen(param types.Object) bool {
	if keeps, known := l.seen[param]; known {
		return keeps
	}
	l.seen[param] = true // of a recursion, the other uses decide
	l.seen[param] = l.onlyUsed(param)
	return l.seen[param]
}

func (l *fileOpens) onlyUsed(param types.Object) bool {
	for _, u := range usesOf(l.pass, param) {
		switch p := u.Parent().Node().(type) {
		case *ast.SelectorExpr:
			if p.Sel.Name == "Close" || strings.HasPrefix(p.Sel.Name, "Set") {
				return false
			}
		case *ast.CallExpr:
			if !l.lent(u) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// returnsIt reports whether the function opens one pool, and returns it as it is.
func (l *fileOpens) returnsIt(opener *ast.FuncDecl) bool {
	n, ok := 0, true
	ast.Inspect(opener.Body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.CallExpr:
			if fn, is := typeutil.Callee(l.pass.TypesInfo, x).(*types.Func); is && fn.Pkg() != nil && (isFunc(fn, "database/sql", "Open") || isFunc(fn, "github.com/jmoiron/sqlx", "Open", "Connect")) {
				n++
			} else if sel, is := x.Fun.(*ast.SelectorExpr); is && isPool(l.pass.TypesInfo.TypeOf(sel.X)) {
				ok = false // it sends a statement or sets a limit
			}
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			ok = false
		}
		return ok
	})
	return ok && n == 1
}

// isPool reports whether a type is a pool of database/sql or sqlx.
func isPool(t types.Type) bool {
	if t == nil {
		return false
	}
	named := namedOf(t)
	return named != nil && named.Obj().Pkg() != nil && named.Obj().Name() == "DB" &&
		slices.Contains([]string{"database/sql", "github.com/jmoiron/sqlx"}, named.Obj().Pkg().Path())
}

// edits opens the file through a variable that keeps it, and removes the closings.
func (l *fileOpens) edits(call *ast.CallExpr, opener *ast.FuncDecl, closed []ast.Stmt) ([]analysis.TextEdit, bool) {
	source := newSource(l.pass, call.Pos())
	if source == nil {
		return nil, false
	}
	pool, ok := typeName(l.pass, source.file, l.pass.TypesInfo.TypeOf(call).(*types.Tuple).At(0).Type())
	taken := namesAround(l.pass, call.Pos())
	files, kind, one := fresh(taken, "openFiles", "keptFiles"), fresh(taken, "fileCache", "keptFileCache"), fresh(taken, "openFile", "keptFile")
	if !ok || files == "" || kind == "" || one == "" {
		return nil, false
	}
	text := strings.NewReplacer("FILES", files, "CACHE", kind, "ONE", one, "POOL", pool).Replace(cacheOfFiles)
	// The call that opens stays as it is, with the DSN in it: what reads the source
	// later, to set a parameter of the DSN or to tell which pools are SQLite's, finds it.
	dsn, indent := source.text(call.Args[1].Pos(), call.Args[1].End()), source.indent(call.Pos())
	out := []analysis.TextEdit{
		edit(call.Pos(), call.Pos(), fmt.Sprintf("%s.open(%s, func() (%s, error) {\n%s\treturn ", files, dsn, pool, indent)),
		edit(call.End(), call.End(), fmt.Sprintf("\n%s})", indent)),
		edit(opener.End(), opener.End(), text),
	}
	for _, s := range closed {
		at := newSource(l.pass, s.Pos())
		if at == nil {
			return nil, false
		}
		out = append(out, at.line(s))
	}
	return out, true
}

// cacheOfFiles is the code that keeps files open. A kept connection keeps the file, so
// that no other file can have its number as long as they are compared.
const cacheOfFiles = `

// FILES keeps SQLite files open from one request to the next.
var FILES CACHE

type CACHE struct {
	mu  sync.Mutex
	all map[string]ONE
}

type ONE struct {
	db   POOL
	file os.FileInfo // when it was opened; nil: there was none
}

// open returns the pool of a file. It opens the file again when another one has its
// name. Requests may use the former one for another minute.
func (c *CACHE) open(dsn string, again func() (POOL, error)) (POOL, error) {
	path, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	file, err := os.Stat(path)
	if err != nil {
		file = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old, known := c.all[dsn]
	if known && old.file != nil && file != nil && os.SameFile(old.file, file) {
		return old.db, nil
	}
	db, err := again()
	if err != nil {
		return nil, err
	}
	if c.all == nil {
		c.all = map[string]ONE{}
	}
	if !known && len(c.all) >= 1000 { // a bound for descriptors
		for name, any := range c.all {
			time.AfterFunc(time.Minute, func() { any.db.Close() })
			delete(c.all, name)
			break
		}
	}
	if known {
		time.AfterFunc(time.Minute, func() { old.db.Close() })
	}
	c.all[dsn] = ONE{db, file}
	return db, nil
}`
