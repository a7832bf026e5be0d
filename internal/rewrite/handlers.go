package rewrite

import (
	"go/ast"
	"go/types"
)

// findRequestFunctions fills perRequest: the functions with a parameter by which
// the request can be reached, and everything in the package that they use. In a
// package without main, an exported function with a context counts too, because
// its callers are in other packages.
func (x *index) findRequestFunctions() {
	var todo []ast.Node
	for fn, d := range x.decls {
		if d.Body != nil && (takesRequest(fn.Signature()) || x.pass.Pkg.Name() != "main" && fn.Exported() && takesContext(fn.Signature())) {
			x.perRequest[fn] = true
			todo = append(todo, d.Body)
		}
	}
	for _, f := range x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok && x.isRequestLit(lit) {
				todo = append(todo, lit.Body)
			}
			return true
		})
	}
	for len(todo) > 0 {
		body := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		ast.Inspect(body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			fn, ok := x.pass.TypesInfo.Uses[id].(*types.Func)
			if !ok {
				return true
			}
			for _, target := range x.targets(fn.Origin()) {
				if d := x.decls[target]; d != nil && d.Body != nil && !x.perRequest[target] {
					x.perRequest[target] = true
					todo = append(todo, d.Body)
				}
			}
			return true
		})
	}
}

func (x *index) isRequestLit(lit *ast.FuncLit) bool {
	sig, ok := x.typeOf(lit).(*types.Signature)
	return ok && takesRequest(sig)
}

// targets lists the functions of the package that a use of fn may run: fn, or
// for a method of an interface the methods of that name of the types that
// implement it.
func (x *index) targets(fn *types.Func) []*types.Func {
	recv := fn.Signature().Recv()
	if recv == nil {
		return []*types.Func{fn}
	}
	face, ok := recv.Type().Underlying().(*types.Interface)
	if !ok {
		return []*types.Func{fn}
	}
	var out []*types.Func
	for other := range x.decls {
		if r := other.Signature().Recv(); r != nil && other.Name() == fn.Name() && types.Implements(r.Type(), face) {
			out = append(out, other)
		}
	}
	return out
}

// inRequest reports whether a node runs while a request is answered.
func (x *index) inRequest(n ast.Node) bool {
	for n = x.parent[n]; n != nil; n = x.parent[n] {
		switch f := n.(type) {
		case *ast.FuncLit:
			if x.isRequestLit(f) {
				return true
			}
		case *ast.FuncDecl:
			fn, ok := x.pass.TypesInfo.Defs[f.Name].(*types.Func)
			return ok && x.perRequest[fn] && !x.isConstructor(fn)
		}
	}
	return false
}

// isConstructor reports whether a function returns a handler: its body runs when
// routes are set up, not for each request.
func (x *index) isConstructor(fn *types.Func) bool {
	for v := range fn.Signature().Results().Variables() {
		if sig, ok := v.Type().Underlying().(*types.Signature); ok && takesRequest(sig) {
			return true
		}
		if isNamed(v.Type(), "net/http", "Handler") || isNamed(v.Type(), "net/http", "HandlerFunc") {
			return true
		}
	}
	return false
}

func takesRequest(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		if isRequest(v.Type()) {
			return true
		}
	}
	return false
}

func takesContext(sig *types.Signature) bool {
	return sig.Params().Len() > 0 && isNamed(sig.Params().At(0).Type(), "context", "Context")
}

// isRequest reports whether a type is a request or a framework's context: one
// whose method or field Request is a *http.Request (echo, gin and others), or
// the context of fasthttp.
func isRequest(t types.Type) bool {
	if isNamed(t, "net/http", "Request") || isNamed(t, "net/http", "ResponseWriter") || isNamed(t, "github.com/valyala/fasthttp", "RequestCtx") {
		return true
	}
	if isNamed(t, "net/http", "Response") {
		return false
	}
	if _, ok := types.Unalias(t).(*types.Signature); ok {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "Request")
	switch o := obj.(type) {
	case *types.Var:
		return isNamed(o.Type(), "net/http", "Request")
	case *types.Func:
		res := o.Signature().Results()
		return o.Signature().Params().Len() == 0 && res.Len() == 1 && isNamed(res.At(0).Type(), "net/http", "Request")
	}
	return false
}
