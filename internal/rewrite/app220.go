package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcall"
)

const flockPath = "github.com/gofrs/flock"

var lockFileAroundRead = Lever{Code: "APP220", Title: "a reader of a SQLite file takes a lock file",
	Line:    "a reader takes an exclusive lock file that SQLite's own lock makes unnecessary",
	Promise: TestedOnly, Order: 18, Saved: Share{Lo: 0.1, Hi: 0.9}, Of: OfFileLocks,
	find: findLockFilesAroundReads,
}

// findLockFilesAroundReads finds readers of a SQLite file that take a lock file which SQLite's own lock
// makes unnecessary: everything that is written under the lock is one transaction, and
// the reader reads it by one statement.
func findLockFilesAroundReads(r *reporter) error {
	l := &lockFiles{reporter: r, x: indexOf(r.pass), calls: callsOf(r.pass)}
	l.still = quietness{pass: r.pass, calls: l.calls}
	seen := map[*ast.FuncDecl]bool{}
	for c := range rootOf(r.pass).Preorder((*ast.CallExpr)(nil)) {
		fn, ok := typeutil.Callee(r.pass.TypesInfo, c.Node().(*ast.CallExpr)).(*types.Func)
		if !ok || !isFunc(fn, flockPath, "Flock.Lock") || skipped(r.pass, c.Node().Pos()) {
			continue
		}
		if d := declaring(c); d != nil && !seen[d] {
			seen[d] = true
			l.visit(d)
		}
	}
	return nil
}

type lockFiles struct {
	*reporter
	x     *index
	calls *sqlcall.Result
	still quietness
}

// A lockSite is a function that holds a lock from one statement to its end.
type lockSite struct {
	call *ast.CallExpr
	take []ast.Stmt // takes the lock, checks the error, releases it at the end
	does *lockSection
}

// reads reports whether a site changes nothing that others see.
func (s lockSite) reads() bool {
	return s.does.units == 0 && !s.does.serves && len(s.does.sets) == 0 && len(s.does.writes) == 0
}

// visit decides about the places that lock through one function.
func (l *lockFiles) visit(locker *ast.FuncDecl) {
	fn, _ := l.pass.TypesInfo.Defs[locker.Name].(*types.Func)
	if fn == nil || fn.Exported() && l.pass.Pkg.Name() != "main" {
		return
	}
	pools := newPools(l.pass)
	if pools.impatient {
		return // a reader would fail while a writer commits
	}
	var sites []lockSite
	for _, use := range usesOf(l.pass, fn) {
		s, ok := l.site(use, pools)
		if !ok {
			return
		}
		sites = append(sites, s)
	}
	written, set := map[string]bool{}, map[types.Object]bool{}
	for _, s := range sites {
		if s.does.opaque || s.does.units > 1 {
			return // what the lock protects is not known, or not one transaction
		}
		maps.Copy(written, s.does.writes)
		maps.Copy(set, s.does.sets)
	}
	for _, s := range sites {
		if s.reads() && len(s.does.reads) > 0 && !l.mixes(s, written, set) {
			l.offer(s)
		}
	}
}

// mixes reports whether a reader could see two states of what is written under the lock.
func (l *lockFiles) mixes(s lockSite, written map[string]bool, set map[types.Object]bool) bool {
	n := 0
	for _, r := range s.does.reads {
		if touches(r.call, written) {
			n++
			if r.again {
				n++
			}
		}
	}
	for v := range set {
		if s.does.uses[v] {
			return true
		}
	}
	return n > 1
}

// offer removes the lock from a reader.
func (l *lockFiles) offer(s lockSite) {
	p := place{node: s.call, what: "a reader waits for a lock file, while SQLite shows it whole transactions only", how: "read without the lock file: all that is written under it is one transaction, and this function reads it by one statement", proof: Tested, promise: TestedOnly}
	for _, r := range s.does.reads {
		p.statements = append(p.statements, r.call.SQL())
	}
	rw := l.x.rewrite()
	for _, st := range s.take {
		rw.removeLines(st)
	}
	if fix, ok := rw.fix("Read without the lock file"); ok {
		p.fixes = append(p.fixes, fix)
	}
	l.report(p)
}

// site reads one use of the function that locks, also within a branch:
//
//	lock, err := f(…)
//	if err != nil { return … }
//	defer lock.Close()
func (l *lockFiles) site(use inspector.Cursor, pools *pools) (s lockSite, ok bool) {
	name, up := use, use.Parent()
	if sel, is := up.Node().(*ast.SelectorExpr); is && sel.Sel == use.Node() {
		name, up = up, up.Parent()
	}
	call, isCall := up.Node().(*ast.CallExpr)
	a, isAssign := up.Parent().Node().(*ast.AssignStmt)
	decl := declaring(use)
	if !isCall || call.Fun != name.Node() || !isAssign || a.Tok != token.DEFINE || len(a.Lhs) != 2 || len(a.Rhs) != 1 || decl == nil {
		return s, false
	}
	list, behind, ok := heldOver(up.Parent())
	at := slices.Index(list, ast.Stmt(a))
	if !ok || at+2 >= len(list) {
		return s, false
	}
	check, isIf := list[at+1].(*ast.IfStmt)
	release, isDefer := list[at+2].(*ast.DeferStmt)
	if !isIf || !isDefer || check.Init != nil || check.Else != nil || !ends(l.pass.TypesInfo, check.Body) || !l.releases(a, release) || !l.checks(a, check) {
		return s, false
	}
	s = lockSite{call: call, take: list[at : at+3], does: newLockSection(l.calls, l.still, pools)}
	for _, st := range slices.Concat(list[at+3:], behind) {
		s.does.walk(st, false)
	}
	return s, !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return !l.still.quiet(a) })
}

// heldOver returns the list that has a statement, and what runs behind that list until the
// function ends. ok is false in a loop: what is taken there until the end is taken again.
func heldOver(at inspector.Cursor) (list, behind []ast.Stmt, ok bool) {
	for up := at.Parent(); ; at, up = up, up.Parent() {
		switch n := up.Node().(type) {
		case *ast.BlockStmt:
			st, _ := at.Node().(ast.Stmt)
			if list == nil {
				list = n.List
			} else if i := slices.Index(n.List, st); i >= 0 {
				behind = append(behind, n.List[i+1:]...)
			}
		case *ast.IfStmt:
		case *ast.FuncDecl:
			return list, behind, list != nil
		default:
			return nil, nil, false
		}
	}
}

// releases reports whether the only use of a lock is its release at the end.
func (l *lockFiles) releases(a *ast.AssignStmt, release *ast.DeferStmt) bool {
	id, ok := a.Lhs[0].(*ast.Ident)
	sel, isSel := release.Call.Fun.(*ast.SelectorExpr)
	if !ok || !isSel || sel.Sel.Name != "Close" && sel.Sel.Name != "Unlock" {
		return false
	}
	lock := l.pass.TypesInfo.Defs[id]
	named := namedOf(l.pass.TypesInfo.TypeOf(id))
	x, isIdent := sel.X.(*ast.Ident)
	return lock != nil && named != nil && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == flockPath &&
		isIdent && l.pass.TypesInfo.Uses[x] == lock && l.calls.Uses[lock] == 1
}

// checks reports whether an if statement checks the error of an assignment. If the
// assignment declares the error, nothing else may use it.
func (l *lockFiles) checks(a *ast.AssignStmt, check *ast.IfStmt) bool {
	id, ok := a.Lhs[1].(*ast.Ident)
	b, isBinary := check.Cond.(*ast.BinaryExpr)
	if !ok || !isBinary || b.Op != token.NEQ || !l.pass.TypesInfo.Types[b.Y].IsNil() {
		return false
	}
	x, isIdent := b.X.(*ast.Ident)
	obj := l.pass.TypesInfo.ObjectOf(id)
	if !isIdent || l.pass.TypesInfo.ObjectOf(x) != obj {
		return false
	}
	if l.pass.TypesInfo.Defs[id] == nil {
		return true
	}
	within := 0
	ast.Inspect(check, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && l.pass.TypesInfo.Uses[id] == obj {
			within++
		}
		return true
	})
	return l.calls.Uses[obj] == within && !strings.HasPrefix(id.Name, "_")
}
