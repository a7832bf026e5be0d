package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

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
