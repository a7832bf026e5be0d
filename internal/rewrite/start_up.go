package rewrite

import (
	"go/ast"
	"go/types"
)

// startsUp reports whether a node runs before requests are served, as one that waits for
// the database: main and init reach it, by plain calls only, and no request does.
func (x *index) startsUp(n ast.Node) bool { return x.startsUpOnly(n, map[*types.Func]bool{}) }

func (x *index) startsUpOnly(n ast.Node, seen map[*types.Func]bool) bool {
	d, ok := x.function(n).(*ast.FuncDecl) // a closure may run at any time
	if !ok {
		return false
	}
	fn, ok := x.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if !ok || x.perRequest[fn] {
		return false
	}
	if d.Recv == nil && (d.Name.Name == "main" || d.Name.Name == "init") && x.pass.Pkg.Name() == "main" {
		return true
	}
	if seen[fn] {
		return true // of a recursion, the other calls decide
	}
	seen[fn] = true
	if len(x.uses[fn]) == 0 || fn.Exported() && x.pass.Pkg.Name() != "main" {
		return false
	}
	for _, use := range x.uses[fn] {
		call := x.callOf(use)
		if call == nil {
			return false
		}
		if _, started := x.parent[call].(*ast.GoStmt); started || !x.startsUpOnly(call, seen) {
			return false
		}
	}
	return true
}

// callOf is the call of the function or method that an identifier names; nil where it is
// used as a value.
func (x *index) callOf(id *ast.Ident) *ast.CallExpr {
	var n ast.Node = id
	if sel, ok := x.parent[n].(*ast.SelectorExpr); ok && sel.Sel == id {
		n = sel
	}
	call, ok := x.parent[n].(*ast.CallExpr)
	if !ok || call.Fun != n {
		return nil
	}
	return call
}
