package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// indexAnalyzer computes the index of a package once for all levers that need it.
var indexAnalyzer = &analysis.Analyzer{
	Name:       "leverindex",
	Doc:        "index of uses, parents and request functions of a package",
	Run:        func(pass *analysis.Pass) (any, error) { return newIndex(pass), nil },
	ResultType: reflect.TypeFor[*index](),
}

// An index has what the levers look up in one package beside its types. Test
// files are left out: no lever changes a test.
type index struct {
	pass   *analysis.Pass
	files  []*ast.File
	parent map[ast.Node]ast.Node
	uses   map[types.Object][]*ast.Ident // reads and writes, in source order, without the definition
	defs   map[types.Object]*ast.Ident
	decls  map[*types.Func]*ast.FuncDecl
	calls  map[*types.Func][]*ast.CallExpr // direct calls
	names  map[string]bool                 // every identifier of the package
	// perRequest has the functions that run while a request is answered.
	perRequest map[*types.Func]bool
}

// sharedIndex is the index of the package of a pass, for callers that add no names.
func sharedIndex(pass *analysis.Pass) *index { return pass.ResultOf[indexAnalyzer].(*index) }

// indexOf returns an index of the package of a pass to which a lever may add names.
func indexOf(pass *analysis.Pass) *index {
	shared := *sharedIndex(pass)
	shared.pass = pass
	shared.names = maps.Clone(shared.names) // levers add names of their own, side by side
	return &shared
}

func newIndex(pass *analysis.Pass) *index {
	x := &index{pass: pass, parent: map[ast.Node]ast.Node{}, uses: map[types.Object][]*ast.Ident{}, defs: map[types.Object]*ast.Ident{},
		decls: map[*types.Func]*ast.FuncDecl{}, calls: map[*types.Func][]*ast.CallExpr{}, names: map[string]bool{}, perRequest: map[*types.Func]bool{}}
	for _, f := range pass.Files {
		if !strings.HasSuffix(pass.Fset.File(f.FileStart).Name(), "_test.go") {
			x.files = append(x.files, f)
			x.add(f)
		}
	}
	x.findRequestFunctions()
	return x
}

// add indexes one file.
func (x *index) add(f *ast.File) {
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			x.parent[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.Ident:
			x.addName(n)
		case *ast.FuncDecl:
			if fn, ok := x.pass.TypesInfo.Defs[n.Name].(*types.Func); ok {
				x.decls[fn] = n
			}
		case *ast.CallExpr:
			if fn := x.callee(n); fn != nil {
				x.calls[fn] = append(x.calls[fn], n)
			}
		}
		return true
	})
}

func (x *index) addName(id *ast.Ident) {
	x.names[id.Name] = true
	if obj := x.pass.TypesInfo.Uses[id]; obj != nil {
		obj = origin(obj)
		x.uses[obj] = append(x.uses[obj], id)
	} else if obj := x.pass.TypesInfo.Defs[id]; obj != nil {
		x.defs[obj] = id
	}
}

// origin returns the generic object of an instantiated one.
func origin(obj types.Object) types.Object {
	switch o := obj.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return obj
}

// callee returns the function or method that a call names, or nil.
func (x *index) callee(call *ast.CallExpr) *types.Func {
	fn, _ := x.named(call.Fun).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// named returns the object that an identifier or a selector names, or nil.
func (x *index) named(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return x.pass.TypesInfo.ObjectOf(e)
	case *ast.SelectorExpr:
		return x.pass.TypesInfo.ObjectOf(e.Sel)
	case *ast.IndexExpr:
		return x.named(e.X)
	}
	return nil
}

// variable returns the variable that an identifier names, or nil.
func (x *index) variable(e ast.Expr) *types.Var {
	if e == nil {
		return nil
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := x.pass.TypesInfo.ObjectOf(id).(*types.Var)
	return v
}

// isFunc reports whether fn is the function or method of a package with one of
// the names. A method is written as "Type.Method".
func isFunc(fn *types.Func, path string, names ...string) bool {
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != path {
		return false
	}
	name := fn.Name()
	if recv := fn.Signature().Recv(); recv != nil {
		name = receiverName(recv.Type()) + "." + name
	}
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// receiverName is the name of a named type or of the type that a pointer points to.
func receiverName(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// isNamed reports whether t, or the type that it points to, is path.name.
func isNamed(t types.Type, path, name string) bool {
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}

// typeOf is the type of an expression, or nil.
func (x *index) typeOf(e ast.Expr) types.Type { return x.pass.TypesInfo.TypeOf(e) }

// fileOf returns the file of a position.
func (x *index) fileOf(pos token.Pos) *ast.File {
	for _, f := range x.files {
		if f.FileStart <= pos && pos <= f.FileEnd {
			return f
		}
	}
	return nil
}

// text is the source of a node.
func (x *index) text(n ast.Node) string { return x.between(n.Pos(), n.End()) }

// between is the source from one position to another.
func (x *index) between(from, to token.Pos) string {
	f := x.pass.Fset.File(from)
	data, err := x.pass.ReadFile(f.Name())
	start, end := f.Offset(from), f.Offset(to)
	if err != nil || start > end || end > len(data) {
		return ""
	}
	return string(data[start:end])
}

// enclosing returns the innermost node of a type around n, without n itself.
func enclosing[T ast.Node](x *index, n ast.Node) T {
	for n = x.parent[n]; n != nil; n = x.parent[n] {
		if t, ok := n.(T); ok {
			return t
		}
	}
	var none T
	return none
}

// function is the innermost function around a node, an *ast.FuncDecl or *ast.FuncLit; nil
// outside of functions.
func (x *index) function(n ast.Node) ast.Node {
	for n = x.parent[n]; n != nil; n = x.parent[n] {
		switch n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return n
		}
	}
	return nil
}

// within reports whether n is inside of outer.
func within(n, outer ast.Node) bool { return outer.Pos() <= n.Pos() && n.End() <= outer.End() }

// writes lists the places that assign to a variable or take its address; its
// definition is not one of them.
func (x *index) writes(v *types.Var) []*ast.Ident {
	var out []*ast.Ident
	for _, id := range x.uses[v] {
		if x.isWritten(id) {
			out = append(out, id)
		}
	}
	return out
}

// isWritten reports whether an identifier or selector is assigned, incremented,
// ranged into, or its address is taken.
func (x *index) isWritten(e ast.Expr) bool {
	switch p := x.parent[e].(type) {
	case *ast.AssignStmt:
		for _, l := range p.Lhs {
			if l == e {
				return true
			}
		}
	case *ast.IncDecStmt:
		return true
	case *ast.RangeStmt:
		return p.Key == e || p.Value == e
	case *ast.UnaryExpr:
		return p.Op == token.AND
	case *ast.ParenExpr:
		return x.isWritten(p)
	case *ast.SelectorExpr:
		// x.f = v writes to x when x is a struct; a method with a pointer
		// receiver may write too.
		if p.X == e {
			if _, pointer := types.Unalias(x.typeOf(e)).Underlying().(*types.Pointer); pointer {
				return false
			}
			if sel := x.pass.TypesInfo.Selections[p]; sel != nil && sel.Kind() == types.MethodVal {
				if recv := sel.Obj().(*types.Func).Signature().Recv(); recv != nil {
					_, byPointer := recv.Type().(*types.Pointer)
					return byPointer
				}
				return false
			}
			return x.isWritten(p)
		}
	case *ast.IndexExpr:
		if _, array := x.typeOf(e).Underlying().(*types.Array); array && p.X == e {
			return x.isWritten(p)
		}
	}
	return false
}

// fixedValue returns the expression that defines a local variable which is
// assigned once, at its definition, or nil.
func (x *index) fixedValue(v *types.Var) ast.Expr {
	id := x.defs[v]
	if id == nil || len(x.writes(v)) > 0 {
		return nil
	}
	switch p := x.parent[id].(type) {
	case *ast.AssignStmt:
		return valueOf(id, p.Lhs, p.Rhs)
	case *ast.ValueSpec:
		for i, n := range p.Names {
			if n == id && len(p.Values) == len(p.Names) {
				return p.Values[i]
			}
		}
	}
	return nil
}

// argumentsOf are the values that the direct calls of a function give one of its
// parameters; none for another variable.
func (x *index) argumentsOf(v *types.Var) (out []ast.Expr) {
	id := x.defs[v]
	if id == nil {
		return nil
	}
	d, ok := x.function(id).(*ast.FuncDecl)
	if !ok || id.Pos() > d.Type.End() {
		return nil
	}
	fn, _ := x.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if fn == nil {
		return nil
	}
	for i := range fn.Signature().Params().Len() {
		if fn.Signature().Params().At(i) != v {
			continue
		}
		for _, call := range x.calls[fn] {
			if i < len(call.Args) {
				out = append(out, call.Args[i])
			}
		}
	}
	return out
}

// valueOf is the expression that an assignment gives to one of its left sides;
// for a call with several results it is the call.
func valueOf(id ast.Expr, lhs, rhs []ast.Expr) ast.Expr {
	for i, l := range lhs {
		if l == id && len(rhs) == len(lhs) {
			return rhs[i]
		}
		if l == id && len(rhs) == 1 {
			return rhs[0]
		}
	}
	return nil
}
