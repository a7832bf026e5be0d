package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcall"
)

// A fileSends follows code that sends statements to one SQLite file. It decides whether
// the code may run within one transaction of that file: the code uses the pool of the
// file for plain statements only, and else it computes, or sends statements to a server.
type fileSends struct {
	calls *sqlcall.Result
	still quietness
	pools *pools
	tx    types.Type // of the transaction

	handles map[types.Object]bool  // the pool, and the parameters that get it
	entered map[*ast.FuncDecl]bool // functions that are being followed, or were
	sent    []*sqlcall.Call        // through a handle
	served  bool                   // a statement that writes is sent to a server
}

func newFileSends(calls *sqlcall.Result, still quietness, pools *pools, handle types.Object, tx types.Type) *fileSends {
	return &fileSends{calls: calls, still: still, pools: pools, tx: tx, handles: map[types.Object]bool{handle: true}, entered: map[*ast.FuncDecl]bool{}}
}

// follow reports whether a node may run within the transaction. within is false for the
// body of a function that is called.
func (f *fileSends) follow(n ast.Node, within bool) bool {
	ok, fine := true, map[*ast.Ident]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt, *ast.FuncLit, *ast.LabeledStmt:
			ok = false
		case *ast.DeferStmt:
			ok = ok && !within && f.mutex(n.Call)
		case *ast.BranchStmt:
			ok = ok && n.Tok != token.GOTO && n.Label == nil
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.RangeStmt:
			ok = ok && f.plainRange(n)
		case *ast.CallExpr:
			ok = ok && f.call(n, fine)
		}
		return ok
	})
	if !ok {
		return false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && f.handles[f.still.pass.TypesInfo.Uses[id]] && !fine[id] {
			ok = false
		}
		return ok
	})
	return ok
}

// plainRange reports whether a loop does not wait for its elements, and calls no
// iterator.
func (f *fileSends) plainRange(n *ast.RangeStmt) bool {
	switch f.still.pass.TypesInfo.TypeOf(n.X).Underlying().(type) {
	case *types.Chan:
		return false
	case *types.Signature: // as slices.Chunk of quiet values
		return f.still.quiet(n.X)
	}
	return true
}

// call decides about one call, and notes the uses of handles that a transaction can
// take over.
func (f *fileSends) call(n *ast.CallExpr, fine map[*ast.Ident]bool) bool {
	if c := f.calls.At(n); c != nil {
		return f.statement(c, fine)
	}
	if f.still.quietCall(n) || f.mutex(n) {
		return true
	}
	fn, _ := typeutil.Callee(f.still.pass.TypesInfo, n).(*types.Func)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	if recv := fn.Signature().Recv(); recv != nil && fn.Pkg().Path() == "database/sql" {
		named := namedOf(recv.Type())
		return named != nil && slices.Contains([]string{"Result", "Row", "Rows"}, named.Obj().Name())
	}
	decl := f.calls.Decl(fn)
	if decl == nil || decl.Body == nil || n.Ellipsis.IsValid() {
		return false
	}
	again := false
	for i, a := range n.Args {
		param := paramAt(fn, i)
		id, _ := ast.Unparen(a).(*ast.Ident)
		switch {
		case id != nil && f.handles[f.still.pass.TypesInfo.Uses[id]]:
			if param == nil || !f.takesTransaction(param.Type()) {
				return false
			}
			again = again || !f.handles[param]
			f.handles[param], fine[id] = true, true
		case param != nil && f.handles[param], isPool(f.still.pass.TypesInfo.TypeOf(a)) && f.pools.of(a) != serverPool:
			return false // another pool, which may be of the same file
		}
	}
	if f.entered[decl] && !again {
		return true
	}
	f.entered[decl] = true
	return f.follow(decl.Body, false)
}

// paramAt is a parameter that takes one argument; nil for a variadic one.
func paramAt(fn *types.Func, i int) *types.Var {
	params := fn.Signature().Params()
	if i >= params.Len() || fn.Signature().Variadic() && i == params.Len()-1 {
		return nil
	}
	return params.At(i)
}

func (f *fileSends) takesTransaction(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && types.Implements(f.tx, i)
}

// statement decides about a statement: through a handle it is of a kind that needs no
// connection of its own afterwards, else it goes to a server.
func (f *fileSends) statement(c *sqlcall.Call, fine map[*ast.Ident]bool) bool {
	id, _ := ast.Unparen(c.Handle.Expr).(*ast.Ident)
	if id == nil || !f.handles[f.still.pass.TypesInfo.Uses[id]] {
		f.served = f.served || c.Op == sqlcall.Exec
		return f.pools.of(c.Handle.Expr) == serverPool
	}
	if obj, _, _ := types.LookupFieldOrMethod(f.tx, true, f.still.pass.Pkg, c.Name); obj == nil && c.Callee.Signature().Recv() != nil {
		return false
	}
	fine[id] = true
	f.sent = append(f.sent, c)
	return c.Op == sqlcall.Exec || c.Op == sqlcall.Get || c.Op == sqlcall.Select || c.Op == sqlcall.QueryRow && c.Scan != nil
}

// mutex reports whether a call locks or unlocks a mutex under which nothing is sent to
// a file: a request that waits for it cannot be waited for by its holder.
func (f *fileSends) mutex(n *ast.CallExpr) bool {
	sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	fn, isFn := typeutil.Callee(f.still.pass.TypesInfo, n).(*types.Func)
	if !ok || !isFn || !isFunc(fn, "sync", "Mutex.Lock", "Mutex.Unlock", "RWMutex.Lock", "RWMutex.Unlock", "RWMutex.RLock", "RWMutex.RUnlock") {
		return false
	}
	v := f.pools.object(sel.X)
	if v == nil {
		return false
	}
	other := &fileSends{calls: f.calls, still: f.still, pools: f.pools, tx: f.tx, handles: map[types.Object]bool{}, entered: f.entered}
	for _, u := range usesOf(f.still.pass, v) {
		d := declaring(u)
		if d == nil {
			return false
		}
		if !f.entered[d] {
			f.entered[d] = true
			if !other.follow(d.Body, false) {
				return false
			}
		}
	}
	return true
}
