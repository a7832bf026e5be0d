package lever

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lever/sqlcall"
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

// visit adds what one node of the source does.
func (f *rowFlow) visit(c inspector.Cursor) {
	switch n := c.Node().(type) {
	case *ast.AssignStmt:
		f.assign(n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		var lhs []ast.Expr
		for _, id := range n.Names {
			lhs = append(lhs, id)
		}
		f.assign(lhs, n.Values)
	case *ast.RangeStmt:
		for _, v := range []ast.Expr{n.Key, n.Value} {
			if v != nil && f.carries(f.typeOf(v)) {
				f.edge(f.node(n.X), f.node(v), f.typeOf(v))
			}
		}
	case *ast.CallExpr:
		f.call(n)
	case *ast.ReturnStmt:
		f.returns(c, n)
	case *ast.SendStmt:
		f.flow(n.Value, f.node(n.Chan), f.typeOf(n.Chan))
	case *ast.CompositeLit:
		f.composite(n)
	case *ast.SelectorExpr:
		f.selector(c, n)
	case *ast.FuncDecl:
		f.declared(n)
	case *ast.Ident:
		f.published(n)
	}
	if e, ok := c.Node().(ast.Expr); ok {
		f.context(c, e)
	}
}

func (f *rowFlow) assign(lhs, rhs []ast.Expr) {
	for i, l := range lhs {
		switch {
		case len(lhs) == len(rhs):
			if id, ok := l.(*ast.Ident); ok && id.Name == "_" {
				continue
			}
			f.flow(rhs[i], f.node(l), f.typeOf(l))
		case len(rhs) == 1 && f.carries(f.typeOf(l)):
			if call, ok := ast.Unparen(rhs[0]).(*ast.CallExpr); ok {
				f.edge(f.resultOf(call, i), f.node(l), f.typeOf(l))
			} else if i == 0 { // v, ok := m[k]
				f.edge(f.node(rhs[0]), f.node(l), f.typeOf(l))
			}
		case len(rhs) == 1 && types.IsInterface(typeOrVoid(f.typeOf(l))):
			if call, ok := ast.Unparen(rhs[0]).(*ast.CallExpr); ok {
				f.escaped[f.resultOf(call, i)] = true
			}
		}
	}
}

func typeOrVoid(t types.Type) types.Type {
	if t == nil {
		return types.Typ[types.Invalid]
	}
	return t
}

// listPackages have functions that only move the elements of a slice or a map, and
// pass them to function literals.
var listPackages = map[string]bool{"slices": true, "maps": true, "sort": true}

func (f *rowFlow) call(n *ast.CallExpr) {
	info := f.pass.TypesInfo
	if info.Types[n.Fun].IsType() {
		if len(n.Args) == 1 && !f.carries(f.typeOf(n)) {
			f.escape(n.Args[0])
		}
		return
	}
	if f.dests[n] || f.structScan(n) {
		return
	}
	switch fn := typeutil.Callee(info, n).(type) {
	case *types.Builtin:
		f.builtin(fn.Name(), n)
	case *types.Func:
		sig := fn.Signature()
		iface := sig.Recv() != nil && types.IsInterface(sig.Recv().Type())
		switch {
		case iface:
			f.arguments(n, sig, func(i int) any { return methodParam{fn.Name(), i} })
		case f.calls.Decl(fn) != nil:
			params := fn.Origin().Signature().Params()
			f.arguments(n, fn.Origin().Signature(), func(i int) any { return params.At(i) })
		case fn.Pkg() != nil && listPackages[fn.Pkg().Path()] && sig.Recv() == nil:
			f.lists(n)
		default:
			for _, a := range n.Args {
				f.escape(a)
			}
		}
	default:
		for _, a := range n.Args {
			f.escape(a)
		}
	}
}

// structScan reports whether a call is StructScan of sqlx: it fills its argument.
func (f *rowFlow) structScan(n *ast.CallExpr) bool {
	fn, ok := typeutil.Callee(f.pass.TypesInfo, n).(*types.Func)
	return ok && fn.Pkg() != nil && (fn.Pkg().Path() == "github.com/jmoiron/sqlx" || fn.Pkg().Path() == "database/sql") &&
		(fn.Name() == "StructScan" || fn.Name() == "Scan")
}

func (f *rowFlow) builtin(name string, n *ast.CallExpr) {
	switch name {
	case "append":
		for _, a := range n.Args {
			f.flow(a, any(n), f.typeOf(n))
		}
	case "copy":
		f.flow(n.Args[1], f.node(n.Args[0]), f.typeOf(n.Args[0]))
	case "len", "cap", "clear", "make", "new":
	case "delete":
		f.escape(n.Args[1])
	default:
		for _, a := range n.Args {
			f.escape(a)
		}
	}
}

// arguments moves arguments to the parameters of a function.
func (f *rowFlow) arguments(n *ast.CallExpr, sig *types.Signature, param func(i int) any) {
	count := sig.Params().Len()
	if len(n.Args) == 1 && count > 1 { // g(h()) with several results
		f.escape(n.Args[0])
		if call, ok := ast.Unparen(n.Args[0]).(*ast.CallExpr); ok && f.carries(f.typeOf(call)) {
			for i := range count {
				f.escaped[f.resultOf(call, i)] = true
			}
		}
		return
	}
	for i, a := range n.Args {
		at := min(i, count-1)
		if at < 0 {
			return
		}
		f.flow(a, param(at), sig.Params().At(at).Type())
	}
}

// lists handles functions of slices, maps and sort: the elements reach the
// parameters of function literals, and the result.
func (f *rowFlow) lists(n *ast.CallExpr) {
	for _, a := range n.Args {
		if !f.carries(f.typeOf(a)) {
			continue
		}
		lit, ok := ast.Unparen(a).(*ast.FuncLit)
		if !ok {
			f.edge(f.node(a), any(n), f.typeOf(a))
			if _, isFunc := f.typeOf(a).Underlying().(*types.Signature); isFunc {
				f.escape(a)
			}
			continue
		}
		for _, p := range lit.Type.Params.List {
			for _, id := range p.Names {
				for _, b := range n.Args {
					if b != a && f.carries(f.typeOf(b)) {
						f.edge(f.node(b), f.node(id), f.typeOf(id))
					}
				}
			}
		}
	}
}

func (f *rowFlow) returns(c inspector.Cursor, n *ast.ReturnStmt) {
	var fn *types.Func
	for up := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		if d, ok := up.Node().(*ast.FuncDecl); ok {
			fn, _ = f.pass.TypesInfo.Defs[d.Name].(*types.Func)
		}
		break
	}
	for i, e := range n.Results {
		if fn == nil {
			f.escape(e) // any caller of the function value may read it
			continue
		}
		results := fn.Signature().Results()
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(n.Results) == 1 && results.Len() > 1 {
			for j := range results.Len() {
				if f.carries(results.At(j).Type()) {
					f.edge(f.resultOf(call, j), resultNode{fn, j}, results.At(j).Type())
				}
			}
			return
		}
		f.flow(e, resultNode{fn, i}, results.At(i).Type())
	}
}

func (f *rowFlow) composite(n *ast.CompositeLit) {
	t := f.typeOf(n)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, isStruct := t.Underlying().(*types.Struct)
	for i, e := range n.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		switch {
		case isStruct && keyed:
			if v, ok := f.pass.TypesInfo.ObjectOf(kv.Key.(*ast.Ident)).(*types.Var); ok {
				f.flow(kv.Value, v, v.Type())
			}
		case isStruct:
			f.flow(e, s.Field(i), s.Field(i).Type())
		case keyed:
			f.flow(kv.Value, any(n), elemOf(t))
			f.flow(kv.Key, nil, nil)
		default:
			f.flow(e, any(n), elemOf(t))
		}
	}
}

func elemOf(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Array:
		return u.Elem()
	case *types.Map:
		return u.Elem()
	}
	return t
}

// declared connects a method with the calls through interfaces, and lets results
// of exported functions escape where other packages can call them.
func (f *rowFlow) declared(n *ast.FuncDecl) {
	fn, ok := f.pass.TypesInfo.Defs[n.Name].(*types.Func)
	if !ok {
		return
	}
	sig := fn.Signature()
	for i := range sig.Results().Len() {
		r := sig.Results().At(i)
		if !f.carries(r.Type()) {
			continue
		}
		f.edge(r, resultNode{fn, i}, r.Type()) // a result with a name
		if sig.Recv() != nil {
			f.edge(resultNode{fn, i}, methodNode{fn.Name(), i}, r.Type())
		}
		if f.pass.Pkg.Name() != "main" && fn.Exported() {
			f.escaped[resultNode{fn, i}] = true
		}
	}
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		if !f.carries(p.Type()) {
			continue
		}
		if sig.Recv() != nil {
			f.edge(methodParam{fn.Name(), i}, p, p.Type())
		}
		if f.pass.Pkg.Name() != "main" && fn.Exported() {
			f.sinks[p] = true
		}
	}
	if recv := sig.Recv(); recv != nil && f.pass.Pkg.Name() != "main" && fn.Exported() {
		f.sinks[recv] = true
	}
}

// published lets fields and variables escape that other packages can read.
func (f *rowFlow) published(id *ast.Ident) {
	v, ok := f.pass.TypesInfo.Defs[id].(*types.Var)
	if !ok || !v.Exported() || f.pass.Pkg.Name() == "main" || !f.carries(v.Type()) {
		return
	}
	if v.IsField() || v.Parent() == f.pass.Pkg.Scope() {
		f.escaped[v] = true
	}
}

// selector adds the read of a field, and the receiver of a method.
func (f *rowFlow) selector(c inspector.Cursor, n *ast.SelectorExpr) {
	sel := f.pass.TypesInfo.Selections[n]
	if sel == nil || !f.carries(sel.Recv()) {
		return
	}
	at, t := f.node(n.X), sel.Recv()
	path := sel.Index()
	if sel.Kind() != types.FieldVal {
		path = path[:len(path)-1]
	}
	for _, i := range path {
		s := structOf(t)
		if s == nil {
			return
		}
		if s == f.row {
			if !f.onlySet(c, n) {
				if f.reads[at] == nil {
					f.reads[at] = map[int]bool{}
				}
				f.reads[at][i] = true
			}
			return
		}
		at, t = s.Field(i), s.Field(i).Type()
	}
	if sel.Kind() == types.FieldVal || !f.carries(t) {
		return
	}
	fn, _ := sel.Obj().(*types.Func)
	call, isCall := above(c).Node().(*ast.CallExpr)
	called := isCall && ast.Unparen(call.Fun) == ast.Expr(n)
	switch decl := f.calls.Decl(fn); {
	case fn == nil:
	case types.IsInterface(typeOrVoid(fn.Signature().Recv().Type())):
	case decl == nil || decl.Recv == nil:
		f.escapeNode(at, t, map[types.Type]bool{})
	default:
		if recv := fn.Origin().Signature().Recv(); f.carries(recv.Type()) {
			f.edge(at, recv, recv.Type())
		}
		if !called {
			f.unknownCallers(fn)
		}
	}
}

func structOf(t types.Type) *types.Struct {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}

// onlySet reports whether a field is set and not read: x.F = v, or &x.F as the
// destination of a Scan.
func (f *rowFlow) onlySet(c inspector.Cursor, n *ast.SelectorExpr) bool {
	switch p := above(c).Node().(type) {
	case *ast.AssignStmt:
		for _, l := range p.Lhs {
			if l == ast.Expr(n) {
				return p.Tok == token.ASSIGN
			}
		}
	case *ast.UnaryExpr:
		call, ok := above(above(c)).Node().(*ast.CallExpr)
		return p.Op == token.AND && ok && (f.dests[call] || f.structScan(call))
	}
	return false
}

// context lets a value escape that stands where it is not followed.
func (f *rowFlow) context(c inspector.Cursor, e ast.Expr) {
	tv := f.pass.TypesInfo.Types[e]
	if id, ok := e.(*ast.Ident); ok && !tv.IsValue() {
		if _, isVar := f.pass.TypesInfo.Uses[id].(*types.Var); !isVar {
			return
		}
	} else if !tv.IsValue() || !f.carries(tv.Type) {
		return
	}
	switch p := c.Parent().Node().(type) {
	case *ast.BinaryExpr:
		switch f.typeOf(e).Underlying().(type) {
		case *types.Struct, *types.Array:
			f.escape(e)
		}
	case *ast.SwitchStmt, *ast.CaseClause, *ast.TypeAssertExpr:
		f.escape(e)
	case *ast.IndexExpr:
		if p.Index == e {
			f.escape(e) // a key is compared as a whole
		}
	}
	f.functionValue(c, e)
}

// functionValue lets the results of a function escape that is used as a value.
func (f *rowFlow) functionValue(c inspector.Cursor, e ast.Expr) {
	id, ok := e.(*ast.Ident)
	if !ok {
		return
	}
	fn, ok := f.pass.TypesInfo.Uses[id].(*types.Func)
	if !ok {
		return
	}
	parent := above(c).Node()
	if sel, isSel := parent.(*ast.SelectorExpr); isSel && sel.Sel == id {
		return
	}
	if call, isCall := parent.(*ast.CallExpr); isCall && ast.Unparen(call.Fun) == e {
		return
	}
	f.unknownCallers(fn)
}

// unknownCallers is for a function that is used as a value: any code may call it.
func (f *rowFlow) unknownCallers(fn *types.Func) {
	sig := fn.Origin().Signature()
	for i := range sig.Results().Len() {
		f.escaped[resultNode{fn.Origin(), i}] = true
	}
	for p := range sig.Params().Variables() {
		f.sinks[p] = true
	}
}

// A held is a node that a value reaches. written: the value was copied into what
// the node refers to, so that its aliases have it, too.
type held struct {
	node    any
	written bool
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
