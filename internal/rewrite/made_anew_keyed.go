package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// A function that renders pages often parses the template whose name it is given:
//
//	t := template.Must(template.New("layout.html").Funcs(funcs).ParseFiles("layout.html", dir(name)))
//
// The template depends on that text alone. It is parsed at the first use of each text.

// mostKept bounds the templates that are kept: the text may come from a request.
const mostKept = 1000

// A keyed is what a value is made of that depends on texts.
type keyed struct {
	h      *hoister
	keys   []*types.Var // the texts
	copied []ast.Stmt   // statements that define local variables, in source order
	locals []*types.Var // that they define
	why    refusal
}

// keyedTemplate matches the calls that parse templates by names that a function is given, or
// with functions that it defines. nil stands for another call; one that depends on more is a
// hint.
func (h *hoister) keyedTemplate(c *ast.CallExpr, must, files bool) *maker {
	k := &keyed{h: h}
	m := &maker{what: "a template is parsed", suffix: "Template", pair: !must, safe: (*hoister).templateSafe}
	if files {
		m.promise = Freshness
	}
	if k.made(c) {
		m.keyed = k
		slices.SortFunc(k.copied, func(a, b ast.Stmt) int { return int(a.Pos() - b.Pos()) })
		return m
	}
	m.hint, m.why = true, k.why
	return m
}

// made reports whether an expression is made of texts, fixed values, and pure calls of them.
func (k *keyed) made(e ast.Expr) bool {
	h := k.h
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		if !ok {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			if ok = h.closed(n); !ok {
				k.no(n, "a function of the template uses a variable of the function around it")
			}
			return false
		case *ast.CallExpr:
			ok = k.call(n)
		case *ast.SelectorExpr:
			if _, ofPackage := h.x.named(n.X).(*types.PkgName); ofPackage {
				return false
			}
			if fn, isMethod := h.x.named(n).(*types.Func); isMethod && fn.Signature().Recv() != nil {
				return true
			}
			ok = k.no(n, "%s may change", h.x.text(n))
		case *ast.Ident:
			ok = k.name(n)
		case *ast.UnaryExpr:
			ok = n.Op != token.ARROW
		}
		return ok
	})
	return ok
}

func (k *keyed) no(at ast.Node, format string, args ...any) bool {
	k.why = refusal{at, fmt.Sprintf(format, args...)}
	return false
}

// call reports whether a call gives the same for the same arguments: it is one of the
// template's chain, or of a pure function.
func (k *keyed) call(c *ast.CallExpr) bool {
	x := k.h.x
	fn := x.callee(c)
	if fn != nil && fn.Pkg() != nil && (fn.Pkg().Path() == "html/template" || fn.Pkg().Path() == "text/template") {
		return true
	}
	if !x.purity().pureCall(c, func(*types.Var) bool { return false }, mostCalls) {
		return k.no(c, "the arguments call %s, which may give something else each time", x.text(c.Fun))
	}
	if d := x.decls[fn]; d != nil && d.Body != nil && !x.ofArguments(d) {
		return k.no(c, "%s reads a variable of the package", fn.Name())
	}
	return true
}

// ofArguments reports whether the body of a function reads no variable of the package that
// code writes to.
func (x *index) ofArguments(d *ast.FuncDecl) bool {
	ok := true
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is {
			if v := x.variable(id); v != nil && !v.IsField() && !isLocal(v) {
				ok = ok && v.Pkg() == x.pass.Pkg && len(x.writes(v)) == 0
			}
		}
		return ok
	})
	return ok && d.Recv == nil
}

// name reports whether a name stands for a text, a fixed value, or a local variable that is
// made of such.
func (k *keyed) name(id *ast.Ident) bool {
	x := k.h.x
	v, isVar := x.named(id).(*types.Var)
	if !isVar || v.IsField() {
		return true // a function, a constant, a type, the key of a literal
	}
	if !isLocal(v) {
		return k.h.fixedObject(v) || k.no(id, "the variable %s may change", id.Name)
	}
	if slices.Contains(k.keys, v) || slices.Contains(k.locals, v) {
		return true
	}
	if value := x.fixedValue(v); value != nil {
		if a, ok := x.parent[x.defs[v]].(*ast.AssignStmt); ok && len(a.Lhs) == 1 && k.tried(value) {
			k.copied, k.locals = append(k.copied, a), append(k.locals, v)
			return true
		}
	}
	if types.Identical(v.Type(), types.Typ[types.String]) {
		k.keys = append(k.keys, v)
		return true
	}
	if k.why.at == nil {
		k.no(id, "the arguments depend on %s", id.Name)
	}
	return false
}

// tried is made, which notes nothing where it fails.
func (k *keyed) tried(e ast.Expr) bool {
	before := *k
	before.keys, before.copied, before.locals = slices.Clone(k.keys), slices.Clone(k.copied), slices.Clone(k.locals)
	if k.made(e) {
		return true
	}
	why := k.why
	*k = before
	k.why = why
	return false
}

// hoist moves the expression into a function that keeps what it has made.
func (k *keyed) hoist(e ast.Expr, m *maker) (analysis.SuggestedFix, bool) {
	h := k.h
	rw := h.x.rewrite()
	fd, ok := h.x.topDecl(e).(*ast.FuncDecl)
	if !ok {
		return analysis.SuggestedFix{}, false
	}
	for _, s := range k.copied {
		if !h.aloneOnLines(s) {
			return analysis.SuggestedFix{}, false
		}
	}
	name := h.x.fresh(camel(fd.Name.Name, m.suffix))
	rw.replace(e, fmt.Sprintf("%s(%s)", name, k.names()))
	for _, v := range k.locals {
		if k.onlyIn(v, e) {
			rw.removeLines(h.x.parent[h.x.defs[v]])
		}
	}
	rw.insert(declStart(fd), k.function(rw, name, e, m)+"\n\n")
	return rw.fix("make it once")
}

// names are the texts, separated by commas.
func (k *keyed) names() string {
	var names []string
	for _, v := range k.keys {
		names = append(names, v.Name())
	}
	return strings.Join(names, ", ")
}

// onlyIn reports whether a variable is used in an expression and in copied statements only.
func (k *keyed) onlyIn(v *types.Var, e ast.Expr) bool {
	return !slices.ContainsFunc(k.h.x.uses[v], func(id *ast.Ident) bool {
		return !within(id, e) && !slices.ContainsFunc(k.copied, func(s ast.Stmt) bool { return within(id, s) })
	})
}

// function is the source of the function that keeps what it has made, with its variable.
func (k *keyed) function(rw *rewrite, name string, e ast.Expr, m *maker) string {
	h := k.h
	kept, made, known := h.x.fresh(name+"s"), h.x.fresh("parsed"), h.x.fresh("known")
	mutex := rw.namedPkg(e.Pos(), "sync", "sync")
	first, pair := strings.Trim(h.results(e), "()"), ""
	if m.pair {
		first, _, _ = strings.Cut(first, ", ")
		pair = ", nil"
	}
	keyType, key, params := fmt.Sprintf("[%d]string", len(k.keys)), fmt.Sprintf("[%d]string{%s}", len(k.keys), k.names()), k.names()+" string"
	switch len(k.keys) {
	case 0:
		params = ""
	case 1:
		keyType, key = "string", k.names()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// %s are the templates that were parsed.\nvar %s = struct {\n\t%s.Mutex\n\tof map[%s]%s\n}{of: map[%s]%s{}}\n\n", kept, kept, mutex, keyType, first, keyType, first)
	fmt.Fprintf(&b, "// %s parses a template at its first use.\nfunc %s(%s) %s {\n\t%s.Lock()\n\tdefer %s.Unlock()\n", name, name, params, h.results(e), kept, kept)
	fmt.Fprintf(&b, "\tif %s, %s := %s.of[%s]; %s {\n\t\treturn %s%s\n\t}\n", made, known, kept, key, known, made, pair)
	for _, s := range k.copied {
		fmt.Fprintf(&b, "\t%s\n", h.x.text(s))
	}
	if m.pair {
		err := h.x.fresh("parseErr")
		fmt.Fprintf(&b, "\t%s, %s := %s\n\tif %s != nil {\n\t\treturn nil, %s\n\t}\n", made, err, h.x.text(e), err, err)
	} else {
		fmt.Fprintf(&b, "\t%s := %s\n", made, h.x.text(e))
	}
	if len(k.keys) > 0 {
		fmt.Fprintf(&b, "\tif len(%s.of) < %d {\n\t\t%s.of[%s] = %s\n\t}\n", kept, mostKept, kept, key, made)
	} else {
		fmt.Fprintf(&b, "\t%s.of[%s] = %s\n", kept, key, made)
	}
	fmt.Fprintf(&b, "\treturn %s%s\n}", made, pair)
	return b.String()
}
