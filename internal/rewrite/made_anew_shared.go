package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// fixedArgs reports whether all arguments of a call are fixed.
func (h *hoister) fixedArgs(c *ast.CallExpr) bool {
	for _, a := range c.Args {
		if !h.fixed(a) {
			return false
		}
	}
	return !c.Ellipsis.IsValid()
}

// fixed reports whether an expression has the same value at every evaluation and
// can stand outside of its function.
func (h *hoister) fixed(e ast.Expr) bool {
	if h.x.pass.TypesInfo.Types[e].Value != nil {
		return h.constantsOfPackage(e)
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return h.fixedObject(h.x.named(e))
	case *ast.SelectorExpr:
		_, ofPackage := h.x.named(e.X).(*types.PkgName)
		return ofPackage && h.fixedObject(h.x.named(e))
	case *ast.UnaryExpr:
		_, literal := e.X.(*ast.CompositeLit)
		return e.Op == token.AND && literal && h.fixed(e.X)
	case *ast.CompositeLit:
		return h.fixedLiteral(e)
	case *ast.FuncLit:
		return h.closed(e)
	case *ast.CallExpr: // a conversion
		return len(e.Args) == 1 && h.x.pass.TypesInfo.Types[e.Fun].IsType() && h.fixed(e.Args[0])
	}
	return false
}

// constantsOfPackage reports whether a constant expression uses no constant of a function.
func (h *hoister) constantsOfPackage(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is {
			c, isConst := h.x.pass.TypesInfo.Uses[id].(*types.Const)
			ok = ok && (!isConst || c.Pkg() == nil || c.Parent() == c.Pkg().Scope())
		}
		return ok
	})
	return ok
}

// fixedObject reports whether a name means nil, a function, or a variable of a
// package that nothing writes.
func (h *hoister) fixedObject(obj types.Object) bool {
	switch o := obj.(type) {
	case *types.Nil:
		return true
	case *types.Func:
		return o.Signature().Recv() == nil
	case *types.Var:
		mine := o.Pkg() == h.x.pass.Pkg && o.Parent() == o.Pkg().Scope()
		return mine && (h.x.pass.Pkg.Name() == "main" || !o.Exported()) && len(h.x.writes(o)) == 0
	}
	return false
}

func (h *hoister) fixedLiteral(lit *ast.CompositeLit) bool {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if _, field := h.x.typeOf(lit).Underlying().(*types.Struct); !field && !h.fixed(kv.Key) {
				return false
			}
			e = kv.Value
		}
		if !h.fixed(e) {
			return false
		}
	}
	return h.packageType(h.x.typeOf(lit))
}

// packageType reports whether a type can be named outside of the function.
func (h *hoister) packageType(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return !ok || n.Obj().Pkg() == nil || n.Obj().Parent() == n.Obj().Pkg().Scope()
}

// closed reports whether a function literal uses no variable from around it.
func (h *hoister) closed(lit *ast.FuncLit) bool {
	ok := true
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, is := n.(*ast.Ident)
		if !is {
			return ok
		}
		obj := h.x.pass.TypesInfo.Uses[id]
		if _, isPackage := obj.(*types.PkgName); isPackage {
			return ok
		}
		if obj == nil || obj.Pkg() != h.x.pass.Pkg || obj.Parent() == nil || obj.Parent() == h.x.pass.Pkg.Scope() {
			return ok
		}
		ok = ok && within(posNode(obj.Pos()), lit)
		return ok
	})
	return ok
}

// A posNode is a position as a node.
type posNode token.Pos

// Pos is the position.
func (p posNode) Pos() token.Pos { return token.Pos(p) }

// End is the position.
func (p posNode) End() token.Pos { return token.Pos(p) }

// anyUse: values of this type cannot be changed.
func (h *hoister) anyUse(ast.Expr) bool { return true }

// patternSafe: only Longest and UnmarshalText change a regular expression.
func (h *hoister) patternSafe(ast.Expr) bool {
	for fn := range h.x.calls {
		if isFunc(fn, "regexp", "Regexp.Longest", "Regexp.UnmarshalText") {
			return false
		}
	}
	return true
}

// templateMaker matches Must of a chain of New, Funcs and Parse with fixed
// arguments, and the chain without Must. Files whose names are computed are a hint.
func (h *hoister) templateMaker(c *ast.CallExpr, fn *types.Func) *maker {
	chain, must := c, false
	if isTemplate(fn, "Must") && len(c.Args) == 1 {
		inner, ok := ast.Unparen(c.Args[0]).(*ast.CallExpr)
		if !ok {
			return nil
		}
		chain, must = inner, true
	}
	last := h.x.callee(chain)
	if !isTemplate(last, "Parse", "ParseFiles", "ParseGlob", "ParseFS") && !isTemplate(last, "Template.Parse", "Template.ParseFiles", "Template.ParseGlob", "Template.ParseFS") {
		return nil
	}
	files, fixed := false, true
	for link := chain; link != nil; {
		f := h.x.callee(link)
		fixed = fixed && h.fixedArgs(link)
		if !isTemplate(f, "New", "ParseFiles", "ParseGlob", "ParseFS") &&
			!isTemplate(f, "Template.New", "Template.Funcs", "Template.Delims", "Template.Option", "Template.Parse", "Template.ParseFiles", "Template.ParseGlob", "Template.ParseFS") {
			return nil
		}
		files = files || strings.HasPrefix(f.Name(), "ParseFiles") || f.Name() == "ParseGlob"
		if f.Name() == "ParseFS" && !isNamed(h.x.typeOf(link.Args[0]), "embed", "FS") {
			files = true
		}
		sel, ok := ast.Unparen(link.Fun).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		if _, ofPackage := h.x.named(sel.X).(*types.PkgName); ofPackage {
			break
		}
		next, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok {
			return nil
		}
		link = next
	}
	if !fixed {
		return h.keyedTemplate(c, must, files)
	}
	m := &maker{what: "a template is parsed", suffix: "Template", lazy: true, pair: !must, safe: (*hoister).templateSafe}
	if files {
		m.promise = Freshness
	}
	return m
}

func isTemplate(fn *types.Func, names ...string) bool {
	return isFunc(fn, "html/template", names...) || isFunc(fn, "text/template", names...)
}

// onlyMethods reports whether a value is used only as the receiver of some
// methods, or not at all.
func (h *hoister) onlyMethods(e ast.Expr, names ...string) bool {
	if sel, ok := h.x.parent[e].(*ast.SelectorExpr); ok {
		return h.isCallOf(sel, names)
	}
	v := h.variableOf(e)
	if v == nil || len(h.x.writes(v)) > 0 {
		return false
	}
	for _, id := range h.x.uses[v] {
		sel, ok := h.x.parent[id].(*ast.SelectorExpr)
		if !ok || !h.isCallOf(sel, names) {
			return false
		}
	}
	return true
}

func (h *hoister) isCallOf(sel *ast.SelectorExpr, names []string) bool {
	call, ok := h.x.parent[sel].(*ast.CallExpr)
	if !ok || call.Fun != sel {
		return false
	}
	for _, n := range names {
		if n == sel.Sel.Name {
			return true
		}
	}
	return false
}

// templateSafe: the value is only executed.
func (h *hoister) templateSafe(e ast.Expr) bool {
	return h.onlyMethods(e, "Execute", "ExecuteTemplate", "Name", "DefinedTemplates")
}

// clientSafe: the client only sends requests.
func (h *hoister) clientSafe(e ast.Expr) bool {
	return h.onlyMethods(e, "Do", "Get", "Head", "Post", "PostForm")
}

// ownTransport reports whether a client's literal has a transport and no cookies:
// a client without a transport of its own shares the connections of all.
func (h *hoister) ownTransport(lit *ast.CompositeLit) bool {
	has := false
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		id, ok := kv.Key.(*ast.Ident)
		if !ok || id.Name == "Jar" {
			return false
		}
		has = has || id.Name == "Transport"
	}
	return has
}

// poolSafe: the pool stays in the function, which closes it with one defer.
func (h *hoister) poolSafe(e ast.Expr) bool {
	v := h.variableOf(e)
	if v == nil || len(h.x.writes(v)) > 0 || h.closeCall(v) == nil {
		return false
	}
	for _, id := range h.x.uses[v] {
		sel, ok := h.x.parent[id].(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Close" && strings.HasPrefix(sel.Sel.Name, "Set") {
			return false
		}
	}
	return true
}

// closeCall returns the call of "defer v.Close()" when it is the only one.
func (h *hoister) closeCall(v *types.Var) ast.Node {
	var found ast.Node
	for _, id := range h.x.uses[v] {
		sel, ok := h.x.parent[id].(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Close" {
			continue
		}
		call := h.x.parent[sel]
		if _, deferred := h.x.parent[call].(*ast.DeferStmt); !deferred || found != nil {
			return nil
		}
		found = sel
	}
	return found
}
