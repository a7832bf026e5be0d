package ties

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A reader goes through one body and notes what it writes and reads.
type reader struct {
	s    *source
	b    body
	of   func(types.Object) *holder
	mark map[ast.Node]bool // roots of writes, which are no reads
}

// uses notes the uses of holders in a body.
func (s *source) uses(b body, of func(types.Object) *holder) {
	r := &reader{s: s, b: b, of: of, mark: map[ast.Node]bool{}}
	alone := map[ast.Expr]bool{} // calls whose result is dropped
	ast.Inspect(b.code, func(n ast.Node) bool {
		if stmt, ok := n.(*ast.ExprStmt); ok {
			alone[stmt.X] = true
		}
		return true
	})
	ast.Inspect(b.code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			r.assign(n)
		case *ast.IncDecStmt:
			r.write(n.X, n)
		case *ast.CallExpr:
			r.call(n, alone[n])
		}
		return true
	})
	ast.Inspect(b.code, func(n ast.Node) bool {
		if n == nil || r.mark[n] {
			return n != nil && !r.mark[n]
		}
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if obj := s.holderOf(b, n); obj != nil {
				r.of(obj).reads++
				return false
			}
		case *ast.Ident:
			if obj := s.holderOf(b, n); obj != nil {
				r.of(obj).reads++
			}
		}
		return true
	})
}

// write notes a write by an expression. Its root is no read; the index in it is one.
func (r *reader) write(e ast.Expr, at ast.Node) {
	obj := r.s.holderOf(r.b, e)
	if obj == nil {
		return
	}
	h := r.of(obj)
	h.writes = append(h.writes, use{body: r.b, node: at, memo: r.s.memo(r.b, obj, at)})
	r.markRoot(e)
}

// markRoot marks the variable that an expression is a part of.
func (r *reader) markRoot(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		r.markRoot(e.X)
	case *ast.SliceExpr:
		r.markRoot(e.X)
	case *ast.StarExpr:
		r.markRoot(e.X)
	case *ast.UnaryExpr:
		r.markRoot(e.X)
	case *ast.Ident, *ast.SelectorExpr:
		r.mark[e] = true
	}
}

func (r *reader) assign(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE {
		return
	}
	for i, lhs := range n.Lhs {
		r.write(lhs, n)
		if len(n.Rhs) != len(n.Lhs) {
			continue
		}
		// x = append(x, …): x is read for itself only.
		if call, ok := n.Rhs[i].(*ast.CallExpr); ok && len(call.Args) > 0 {
			if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "append" && r.s.holderOf(r.b, call.Args[0]) == r.s.holderOf(r.b, lhs) {
				r.markRoot(call.Args[0])
			}
		}
	}
}

// atomics are functions of sync/atomic that change their first argument.
var atomics = []string{"AddInt32", "AddInt64", "AddUint32", "AddUint64", "StoreInt32", "StoreInt64", "StoreUint32", "StoreUint64", "SwapInt32", "SwapInt64", "SwapUint32", "SwapUint64", "CompareAndSwapInt32", "CompareAndSwapInt64", "CompareAndSwapUint32", "CompareAndSwapUint64"}

// call notes calls that change what they get. alone: the result is dropped.
func (r *reader) call(n *ast.CallExpr, alone bool) {
	if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && slices.Contains([]string{"delete", "clear", "copy"}, id.Name) {
		r.write(n.Args[0], n)
		return
	}
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	if from, name := outside(r.b.pkg, sel); from == "sync/atomic" && slices.Contains(atomics, name) && len(n.Args) > 0 {
		r.changed(n.Args[0], n, !alone)
		return
	} else if from == "container/heap" && len(n.Args) > 0 {
		r.changed(n.Args[0], n, !alone)
		return
	}
	obj := r.s.holderOf(r.b, sel.X)
	if obj == nil || !slices.Contains(mutators, sel.Sel.Name) || !r.s.contains(r.s.pkgOf(obj, r.b.pkg), obj) {
		return
	}
	from, _ := outside(r.s.pkgOf(obj, r.b.pkg), r.s.typing[obj])
	r.mark[sel] = true
	shows := slices.Contains(returning, sel.Sel.Name) || from == "sync/atomic" && sel.Sel.Name == "Add"
	r.changed(sel.X, n, shows && !alone)
}

// changed notes a write, and a read where its result is used.
func (r *reader) changed(e ast.Expr, at ast.Node, read bool) {
	r.write(e, at)
	if obj := r.s.holderOf(r.b, e); obj != nil && read {
		r.of(obj).reads++
	}
}
