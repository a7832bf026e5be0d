package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// othersQuiet reports whether the rest of the body sends nothing before the loop
// ends, and leaves the function in the middle only where a transaction takes the
// rows back. Such an exit may then come before the statement: in both orders, none
// of the rows is seen.
func (e *execution) othersQuiet() bool {
	for _, s := range e.others() {
		loud := e.loudExits(s)
		if !e.still.quietBut(s, loud) || e.handle().Kind != sqlcall.Tx && leavesFunction(s) {
			return false
		}
		if len(loud) > 0 && !e.ownTransaction() {
			return false
		}
		if slices.ContainsFunc(loud, func(b *ast.BlockStmt) bool { return !e.undoes(b) }) || !e.returnsUndo(s, loud) {
			return false
		}
	}
	return true
}

// leavesFunction reports whether a statement has a return.
func leavesFunction(s ast.Node) bool { return hasNode[*ast.ReturnStmt](s) }

// loudExits are the branches of a statement that leave the function and are not
// quiet: they log, answer the request or end the transaction.
func (e *execution) loudExits(s ast.Stmt) (loud []*ast.BlockStmt) {
	ast.Inspect(s, func(n ast.Node) bool {
		check, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		otherwise, _ := check.Else.(*ast.BlockStmt)
		for _, b := range []*ast.BlockStmt{check.Body, otherwise} {
			if b != nil && len(b.List) > 0 && ends(e.pass.TypesInfo, b) && !e.still.quiet(b) {
				loud = append(loud, b)
			}
		}
		return true
	})
	return loud
}

// returnsUndo reports whether all returns of a statement outside of some blocks lead
// to a rollback: by a deferred call, or in the caller, who receives an error.
func (e *execution) returnsUndo(s ast.Stmt, without []*ast.BlockStmt) bool {
	if !leavesFunction(s) || e.ownTransaction() && e.rollbackDeferred() {
		return true
	}
	ok := true
	var ifs []*ast.IfStmt
	var stack []ast.Node
	ast.Inspect(s, func(n ast.Node) bool {
		if n == nil {
			if _, is := stack[len(stack)-1].(*ast.IfStmt); is {
				ifs = ifs[:len(ifs)-1]
			}
			stack = stack[:len(stack)-1]
			return true
		}
		if b, is := n.(*ast.BlockStmt); is && slices.Contains(without, b) {
			return false
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.IfStmt:
			ifs = append(ifs, n)
		case *ast.ReturnStmt:
			ok = ok && e.returnsError(n, ifs)
		}
		return true
	})
	return ok
}

// returnsError reports whether a return has an error that is not nil. ifs are the
// conditions around it.
func (e *execution) returnsError(r *ast.ReturnStmt, ifs []*ast.IfStmt) bool {
	info := e.pass.TypesInfo
	if len(r.Results) == 0 {
		return slices.ContainsFunc(ifs, func(s *ast.IfStmt) bool {
			return within(r, s.Body) && e.isResult(notNil(info, s.Cond))
		})
	}
	x := ast.Unparen(r.Results[len(r.Results)-1])
	t := info.TypeOf(x)
	if t == nil || info.Types[x].IsNil() || !types.AssignableTo(t, types.Universe.Lookup("error").Type()) {
		return false
	}
	if !types.IsInterface(t) {
		return true
	}
	if call, ok := x.(*ast.CallExpr); ok {
		f, isFunc := typeutil.Callee(info, call).(*types.Func)
		return isFunc && slices.Contains([]string{"fmt.Errorf", "errors.New"}, f.FullName())
	}
	if packageVar(info, x) {
		return true
	}
	return slices.ContainsFunc(ifs, func(s *ast.IfStmt) bool {
		y := notNil(info, s.Cond)
		return y != nil && within(r, s.Body) && types.ExprString(y) == types.ExprString(x)
	})
}

// isResult reports whether an expression is the last named result of the function.
func (e *execution) isResult(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	var t *ast.FuncType
	switch f := e.call.Func.(type) {
	case *ast.FuncDecl:
		t = f.Type
	case *ast.FuncLit:
		t = f.Type
	}
	if t == nil || t.Results == nil {
		return false
	}
	names := t.Results.List[len(t.Results.List)-1].Names
	return len(names) > 0 && e.pass.TypesInfo.ObjectOf(names[len(names)-1]) == e.pass.TypesInfo.ObjectOf(id)
}

// packageVar reports whether an expression names a variable of a package, as
// ErrInvalid or io.EOF.
func packageVar(info *types.Info, x ast.Expr) bool {
	if sel, ok := x.(*ast.SelectorExpr); ok {
		x = sel.Sel
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := info.ObjectOf(id).(*types.Var)
	return ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// notNil is the expression x of a condition x != nil; nil for others.
func notNil(info *types.Info, cond ast.Expr) ast.Expr {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ || !info.Types[b.Y].IsNil() {
		return nil
	}
	return b.X
}

// transactionMethods are the methods of a transaction whose results cannot send a
// further statement.
var transactionMethods = []string{"Exec", "MustExec", "NamedExec", "Get", "Select", "Query", "Queryx", "NamedQuery", "QueryRow", "QueryRowx", "Commit", "Rollback"}

// ownTransaction reports whether the function begins the transaction on a pool and
// keeps it to itself: no other function, closure or variable can send a statement
// through it, and none of its deferred calls commits it.
func (e *execution) ownTransaction() bool {
	tx := localVar(e.pass.TypesInfo, e.handle().Expr)
	if tx == nil || e.handle().Kind != sqlcall.Tx || e.calls.Writes[tx] != 1 || !e.begun(tx) {
		return false
	}
	for _, use := range usesOf(e.pass, tx) {
		sel, ok := above(use).Node().(*ast.SelectorExpr)
		if !ok {
			return false
		}
		call, ok := above(above(use)).Node().(*ast.CallExpr)
		if !ok || ast.Unparen(call.Fun) != sel {
			return false
		}
		prepares := e.call.Prepared != nil && e.call.Prepared.Expr == call
		if !prepares && !slices.Contains(transactionMethods, strings.TrimSuffix(sel.Sel.Name, "Context")) {
			return false
		}
		for c := range use.Enclosing((*ast.FuncLit)(nil), (*ast.DeferStmt)(nil)) {
			if within(c.Node(), e.call.Func) && c.Node() != e.call.Func && sel.Sel.Name != "Rollback" {
				return false
			}
		}
	}
	return true
}

// begun reports whether the function sets a variable to a new transaction of a pool.
func (e *execution) begun(tx *types.Var) bool {
	found := false
	e.inspectFunc(func(n ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || localVar(e.pass.TypesInfo, a.Lhs[0]) != tx {
			return
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok {
			return
		}
		f, ok := typeutil.Callee(e.pass.TypesInfo, call).(*types.Func)
		if !ok || f.Signature().Recv() == nil {
			return
		}
		pool := namedOf(f.Signature().Recv().Type())
		found = pool != nil && pool.Obj().Name() == "DB" && pool.Obj().Pkg() != nil &&
			slices.Contains([]string{"database/sql", "github.com/jmoiron/sqlx"}, pool.Obj().Pkg().Path()) &&
			slices.Contains([]string{"Begin", "BeginTx", "Beginx", "BeginTxx", "MustBegin", "MustBeginTx"}, f.Name())
	})
	return found
}

// inspectFunc visits the nodes of the function of the loop, without those of
// closures.
func (e *execution) inspectFunc(visit func(ast.Node)) {
	ast.Inspect(e.call.Func, func(n ast.Node) bool {
		if _, closure := n.(*ast.FuncLit); closure && n != e.call.Func {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// undoes reports whether a branch that leaves the function rolls the transaction
// back, or a deferred call does, and the branch does nothing else with it.
func (e *execution) undoes(b *ast.BlockStmt) bool {
	tx := localVar(e.pass.TypesInfo, e.handle().Expr)
	for _, use := range usesOf(e.pass, tx) {
		if sel, ok := above(use).Node().(*ast.SelectorExpr); within(use.Node(), b) && (!ok || sel.Sel.Name != "Rollback") {
			return false
		}
	}
	return e.rollsBack(b.List) || e.rollbackDeferred()
}

// rollbackDeferred reports whether the function defers the rollback before the loop.
func (e *execution) rollbackDeferred() bool {
	found := false
	e.inspectFunc(func(n ast.Node) {
		block, ok := n.(*ast.BlockStmt)
		if !ok || !within(e.loop, block) {
			return
		}
		for _, s := range block.List {
			d, ok := s.(*ast.DeferStmt)
			if !ok || d.Pos() > e.loop.Pos() {
				continue
			}
			list := []ast.Stmt{&ast.ExprStmt{X: d.Call}}
			if closure, ok := d.Call.Fun.(*ast.FuncLit); ok {
				list = closure.Body.List
			}
			found = found || e.rollsBack(list)
		}
	})
	return found
}

// rollsBack reports whether some statements, run in order, roll the transaction back:
// tx.Rollback(), _ = tx.Rollback(), or if err := tx.Rollback(); …
func (e *execution) rollsBack(list []ast.Stmt) bool {
	tx := localVar(e.pass.TypesInfo, e.handle().Expr)
	for _, s := range list {
		if check, ok := s.(*ast.IfStmt); ok && check.Init != nil {
			s = check.Init
		} else if leavesFunction(s) {
			return false
		}
		var x ast.Expr
		switch s := s.(type) {
		case *ast.ExprStmt:
			x = s.X
		case *ast.AssignStmt:
			x = s.Rhs[0]
		}
		call, ok := x.(*ast.CallExpr)
		if !ok {
			continue
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Rollback" && localVar(e.pass.TypesInfo, sel.X) == tx {
			return true
		}
	}
	return false
}
