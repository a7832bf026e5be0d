package rewrite

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// A rowFlow follows the values of one struct type through a package: which
// variables, fields, parameters and results they reach, and which of their fields
// are read there. It does not look at the order of statements. A value that reaches
// code outside of the package, or an interface, has escaped: all its fields count
// as read.
type rowFlow struct {
	pass  *analysis.Pass
	calls *sqlcall.Result
	row   *types.Struct
	dests map[*ast.CallExpr]bool // calls that fill their arguments from a row

	memo    map[types.Type]bool
	edges   map[any][]link
	aliased map[any][]any        // by node: the nodes that hold the same pointer, slice, map or channel
	reads   map[any]map[int]bool // by node: fields of the struct
	escaped map[any]bool
	// sinks are parameters whose callers are unknown: what is written through them
	// escapes, what they point to before does not.
	sinks map[any]bool
}

// A link moves a value to a node. An alias moves a pointer, a slice, a map or a
// channel: what is written through the one is seen through the other.
type link struct {
	to    any
	alias bool
}

// Nodes of the graph besides objects and expressions.
type (
	resultNode struct { // result i of a function
		f *types.Func
		i int
	}
	methodNode struct { // result i of any method of this name
		name string
		i    int
	}
	methodParam struct { // parameter i of any method of this name; -1 is the receiver
		name string
		i    int
	}
)

// newRowFlow builds the graph of a package for a struct type.
func newRowFlow(pass *analysis.Pass, calls *sqlcall.Result, row *types.Struct) *rowFlow {
	f := &rowFlow{pass: pass, calls: calls, row: row, dests: map[*ast.CallExpr]bool{}, memo: map[types.Type]bool{},
		edges: map[any][]link{}, aliased: map[any][]any{}, reads: map[any]map[int]bool{}, escaped: map[any]bool{}, sinks: map[any]bool{}}
	for _, c := range calls.Calls {
		if c.Op == sqlcall.Get || c.Op == sqlcall.Select {
			f.dests[c.Expr] = true
		}
		if c.Scan != nil {
			f.dests[c.Scan] = true
		}
	}
	root := rootOf(pass)
	for c := range root.Preorder() {
		f.visit(c)
	}
	return f
}

// carries reports whether values of a type hold values of the struct.
func (f *rowFlow) carries(t types.Type) bool {
	if t == nil {
		return false
	}
	if known, ok := f.memo[t]; ok {
		return known
	}
	f.memo[t] = false // of a recursive type, the other parts decide
	f.memo[t] = f.holds(t)
	return f.memo[t]
}

func (f *rowFlow) holds(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return f.carries(t.Underlying())
	case *types.Pointer:
		return f.carries(t.Elem())
	case *types.Slice:
		return f.carries(t.Elem())
	case *types.Array:
		return f.carries(t.Elem())
	case *types.Chan:
		return f.carries(t.Elem())
	case *types.Map:
		return f.carries(t.Key()) || f.carries(t.Elem())
	case *types.Struct:
		if t == f.row {
			return true
		}
		for v := range t.Fields() {
			if f.carries(v.Type()) {
				return true
			}
		}
	case *types.Signature:
		return f.carries(t.Params()) || f.carries(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if f.carries(v.Type()) {
				return true
			}
		}
	}
	return false
}

func (f *rowFlow) typeOf(e ast.Expr) types.Type { return f.pass.TypesInfo.TypeOf(e) }

// edge moves values of type t from one node to another.
func (f *rowFlow) edge(from, to any, t types.Type) {
	if from == nil || to == nil || from == to {
		return
	}
	alias := refers(t)
	f.edges[from] = append(f.edges[from], link{to, alias})
	if alias {
		f.aliased[to] = append(f.aliased[to], from)
	}
}

// refers reports whether a value of a type refers to memory that others may share.
func refers(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature:
		return true
	}
	return false
}

// node is where the value of an expression is held; nil if it is of no interest.
func (f *rowFlow) node(e ast.Expr) any {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := f.pass.TypesInfo.ObjectOf(e).(*types.Var); ok {
			return v
		}
	case *ast.SelectorExpr:
		if v, ok := f.pass.TypesInfo.ObjectOf(e.Sel).(*types.Var); ok {
			return v
		}
	case *ast.IndexExpr:
		return f.node(e.X)
	case *ast.SliceExpr:
		return f.node(e.X)
	case *ast.StarExpr:
		return f.node(e.X)
	case *ast.UnaryExpr:
		return f.node(e.X)
	case *ast.CallExpr:
		return f.resultOf(e, 0)
	case *ast.CompositeLit, *ast.FuncLit, *ast.TypeAssertExpr:
		return e
	}
	return nil
}

// resultOf is the node of result i of a call.
func (f *rowFlow) resultOf(call *ast.CallExpr, i int) any {
	if f.pass.TypesInfo.Types[call.Fun].IsType() && len(call.Args) == 1 {
		return f.node(call.Args[0])
	}
	fn, ok := typeutil.Callee(f.pass.TypesInfo, call).(*types.Func)
	switch {
	case !ok:
		return call // append, new, make, or a function value
	case fn.Signature().Recv() != nil && types.IsInterface(fn.Signature().Recv().Type()):
		return methodNode{fn.Name(), i}
	case f.calls.Decl(fn) != nil:
		return resultNode{fn.Origin(), i}
	}
	return call
}

// escape marks the value of an expression as read as a whole.
func (f *rowFlow) escape(e ast.Expr) {
	if t := f.typeOf(e); f.carries(t) {
		f.escapeNode(f.node(e), t, map[types.Type]bool{})
	}
}

// escapeNode marks a node, and the fields that hold values inside of its type.
func (f *rowFlow) escapeNode(n any, t types.Type, seen map[types.Type]bool) {
	if n != nil {
		f.escaped[n] = true
	}
	if seen[t] || !f.carries(t) {
		return
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		f.escapeNode(nil, t.Underlying(), seen)
	case *types.Pointer:
		f.escapeNode(nil, t.Elem(), seen)
	case *types.Slice:
		f.escapeNode(nil, t.Elem(), seen)
	case *types.Array:
		f.escapeNode(nil, t.Elem(), seen)
	case *types.Chan:
		f.escapeNode(nil, t.Elem(), seen)
	case *types.Map:
		f.escapeNode(nil, t.Key(), seen)
		f.escapeNode(nil, t.Elem(), seen)
	case *types.Struct:
		if t == f.row {
			return
		}
		for v := range t.Fields() {
			if f.carries(v.Type()) {
				f.escapeNode(v, v.Type(), seen)
			}
		}
	}
}

// flow moves the value of an expression to a node of a type.
func (f *rowFlow) flow(e ast.Expr, to any, t types.Type) {
	if e == nil || !f.carries(f.typeOf(e)) {
		return
	}
	if to == nil || !f.carries(t) {
		f.escape(e)
		return
	}
	f.edge(f.node(e), to, f.typeOf(e))
}

// read returns the fields that are read of rows that a call writes to some
// destinations. ok is false if they escape.
func (f *rowFlow) read(dests []ast.Expr) (fields map[int]bool, ok bool) {
	reached := map[held]bool{}
	var queue []held
	for _, d := range dests {
		n := f.node(d)
		if n == nil {
			return nil, false
		}
		queue = append(queue, held{n, true})
	}
	fields = map[int]bool{}
	for len(queue) > 0 {
		h := queue[0]
		queue = queue[1:]
		if reached[h] {
			continue
		}
		reached[h] = true
		if f.escaped[h.node] || h.written && f.sinks[h.node] {
			return nil, false
		}
		for i := range f.reads[h.node] {
			fields[i] = true
		}
		for _, l := range f.edges[h.node] {
			queue = append(queue, held{l.to, !l.alias})
		}
		if h.written {
			for _, from := range f.aliased[h.node] {
				queue = append(queue, held{from, true})
			}
		}
	}
	return fields, true
}

// columnsOf are the columns of the fields of a struct by its db tags. ok is false
// if a field has none.
func columnsOf(s *types.Struct) (columns []string, ok bool) {
	for i := range s.NumFields() {
		name, _, _ := strings.Cut(structTag(s.Tag(i), "db"), ",")
		if name == "" {
			return nil, false
		}
		columns = append(columns, name)
	}
	return columns, len(columns) > 0
}
