package goapp

import (
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Route is a path with its handler.
type Route struct {
	Route   string   // method and path, as in "GET /a/:id"; "ANY" for every method
	Func    string   // the handler, as FuncName writes it; the function around a literal
	Reaches []string // functions of the module that the handler refers to, directly or through others
}

// Routes finds the calls that register a function for a path, by the form that
// net/http and the common routers share: a method such as GET, Get, Handle or
// HandleFunc whose first arguments are constant texts with a path and whose last one
// is a function. Prefixes of groups are added where the group is made with a
// constant path. others are the folders of programs that register nothing while
// another program does, such as a generator of data beside a web app. Only packages in
// the folders of are read; nil stands for all.
func Routes(all []*packages.Package, of map[string]bool) (out []Route, others []string) {
	var pkgs []*packages.Package
	for _, p := range all {
		if p.TypesInfo != nil && (of == nil || of[p.Dir]) {
			pkgs = append(pkgs, p)
		}
	}
	g := &graph{calls: map[string]map[string]bool{}, prefixes: map[types.Object][]string{}}
	for _, p := range pkgs {
		g.add(p)
	}
	for _, p := range pkgs {
		g.groups(p)
	}
	serves := false
	for _, p := range pkgs {
		g.index(p)
		routes := g.routes(p)
		out = append(out, routes...)
		if p.Name == "main" && len(routes) > 0 {
			serves = true
		} else if p.Name == "main" {
			others = append(others, p.Dir)
		}
	}
	if !serves { // the program registers its routes in another package
		others = nil
	}
	slices.SortFunc(out, func(a, b Route) int { return strings.Compare(a.Route+" "+a.Func, b.Route+" "+b.Func) })
	return slices.CompactFunc(out, func(a, b Route) bool { return a.Route == b.Route && a.Func == b.Func }), others
}

// A graph has the functions that each function of the module refers to. A method of
// an interface stands for all methods of that name.
type graph struct {
	calls    map[string]map[string]bool
	methods  map[string][]string        // concrete methods by name
	prefixes map[types.Object][]string  // paths of groups, by the variable; a parameter has one of each call
	outer    map[ast.Expr]*ast.CallExpr // the method call on the result of a call: r.HandleFunc(…).Methods("GET")
}

// add reads the functions of a package.
func (g *graph) add(p *packages.Package) {
	if g.methods == nil {
		g.methods = map[string][]string{}
	}
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := FuncName(fn)
			if fn.Recv != nil {
				g.methods[fn.Name.Name] = append(g.methods[fn.Name.Name], name)
			}
			if g.calls[name] == nil {
				g.calls[name] = map[string]bool{}
			}
			maps.Copy(g.calls[name], refers(p, fn.Body))
		}
	}
}

// refers lists the functions and methods that a piece of source names.
func refers(p *packages.Package, n ast.Node) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if f, ok := p.TypesInfo.Uses[id].(*types.Func); ok {
			out[nameOf(f)] = true
		}
		return true
	})
	return out
}

// FuncName is the name of a declared function: "list", "(*app).list", "app.list".
func FuncName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	if star, ok := d.Recv.List[0].Type.(*ast.StarExpr); ok {
		return "(*" + types.ExprString(star.X) + ")." + d.Name.Name
	}
	return types.ExprString(d.Recv.List[0].Type) + "." + d.Name.Name
}

// nameOf is the same name of a function's object; "any.NAME" for a method of an
// interface.
func nameOf(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Name()
	}
	t, pointer := recv.Type(), false
	if ptr, ok := t.(*types.Pointer); ok {
		t, pointer = ptr.Elem(), true
	}
	named, ok := t.(*types.Named)
	if !ok || types.IsInterface(t) {
		return "any." + f.Name()
	}
	if pointer {
		return "(*" + named.Obj().Name() + ")." + f.Name()
	}
	return named.Obj().Name() + "." + f.Name()
}

// reaches lists the functions of the module that some functions refer to, directly
// or through others.
func (g *graph) reaches(from map[string]bool) []string {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if method, ok := strings.CutPrefix(name, "any."); ok {
			for _, m := range g.methods[method] {
				visit(m)
			}
			return
		}
		if seen[name] || g.calls[name] == nil {
			return
		}
		seen[name] = true
		for next := range g.calls[name] {
			visit(next)
		}
	}
	for name := range from {
		visit(name)
	}
	return slices.Sorted(maps.Keys(seen))
}

// verbs are the names of methods that register a route, with the HTTP method; "" for
// those whose path may name it, or that take it as an argument.
var verbs = map[string]string{"GET": "GET", "Get": "GET", "POST": "POST", "Post": "POST", "PUT": "PUT", "Put": "PUT", "DELETE": "DELETE", "Delete": "DELETE",
	"PATCH": "PATCH", "Patch": "PATCH", "HEAD": "HEAD", "Head": "HEAD", "Any": "", "Handle": "", "HandleFunc": "", "Method": "", "MethodFunc": "", "Add": ""}

// routes finds the registrations in a package.
func (g *graph) routes(p *packages.Package) []Route {
	var out []Route
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					out = append(out, g.route(p, fn, call)...)
				}
				return true
			})
		}
	}
	return out
}

// index notes the method calls on results of calls.
func (g *graph) index(p *packages.Package) {
	g.outer = map[ast.Expr]*ast.CallExpr{}
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
					g.outer[ast.Unparen(sel.X)] = call
				}
			}
			return true
		})
	}
}

// route reads one call: r.GET("/a", f), and gorilla's r.Path("/a").Handler(f).
func (g *graph) route(p *packages.Package, in *ast.FuncDecl, call *ast.CallExpr) (out []Route) {
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	if !isSel {
		return nil
	}
	method, known := verbs[sel.Sel.Name]
	args, router := call.Args, sel.X
	if path := pathBelow(sel); path != nil && len(args) == 1 {
		known, args, router = true, append(slices.Clone(path.Args), args...), path.Fun.(*ast.SelectorExpr).X
	}
	if !known || len(args) < 2 {
		return nil
	}
	first, isText := text(p, args[0])
	if isText && isMethod(first) && len(args) > 2 {
		method, args = strings.ToUpper(first), args[1:]
		first, isText = text(p, args[0])
	}
	if at, path, spaced := strings.Cut(first, " "); spaced && isMethod(at) { // net/http's own patterns
		method, first = at, strings.TrimSpace(path)
	}
	if !isText || !strings.HasPrefix(first, "/") && first != "" {
		return nil
	}
	from, name := g.handler(p, in, args[1:])
	if name == "" {
		return nil
	}
	methods := g.limits(p, call)
	if method != "" {
		methods = []string{method}
	}
	reaches := g.reaches(from)
	for _, prefix := range orNone(g.prefix(p, router)) {
		for _, m := range methods {
			out = append(out, Route{m + " " + PathOf(prefix+first), name, reaches})
		}
	}
	return out
}

// orNone is the empty prefix where there is none.
func orNone(prefixes []string) []string {
	if len(prefixes) == 0 {
		return []string{""}
	}
	return prefixes
}

// pathBelow is the call of gorilla's method Path or PathPrefix in a chain that ends with
// Handler or HandlerFunc, nil for another chain.
func pathBelow(end *ast.SelectorExpr) *ast.CallExpr {
	if end.Sel.Name != "Handler" && end.Sel.Name != "HandlerFunc" {
		return nil
	}
	for e := end.X; ; {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return nil
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		if sel.Sel.Name == "Path" && len(call.Args) == 1 {
			return call
		}
		e = sel.X
	}
}

// limits are the methods to which gorilla's method Methods limits a route, anywhere in
// the chain around a call or below it; ANY without such a limit.
func (g *graph) limits(p *packages.Package, call *ast.CallExpr) (methods []string) {
	take := func(c *ast.CallExpr) {
		if sel, ok := c.Fun.(*ast.SelectorExpr); !ok || sel.Sel.Name != "Methods" {
			return
		}
		for _, a := range c.Args {
			if m, ok := text(p, a); ok && isMethod(m) {
				methods = append(methods, strings.ToUpper(m))
			}
		}
	}
	for c := g.outer[call]; c != nil; c = g.outer[c] {
		take(c)
	}
	for c := call; c != nil; {
		take(c)
		sel, _ := c.Fun.(*ast.SelectorExpr)
		if sel == nil {
			break
		}
		c, _ = ast.Unparen(sel.X).(*ast.CallExpr)
	}
	if len(methods) == 0 {
		return []string{"ANY"}
	}
	return methods
}

// handler finds the function among the arguments: the first that has one of the module's
// functions. A call that wraps a handler, as in All(list) or h.Web(list, readers), is named after
// the first function that it is given, and reaches the wrapper, too. A function literal is named
// after the function that it is in.
func (g *graph) handler(p *packages.Package, in *ast.FuncDecl, args []ast.Expr) (from map[string]bool, name string) {
	for _, a := range args {
		given, called, literal := namedIn(p, a)
		own := func(name string) bool { return g.calls[name] != nil }
		switch i := slices.IndexFunc(given, own); {
		case literal:
			return refers(p, a), FuncName(in)
		case i >= 0:
			return refers(p, a), given[i]
		}
		if i := slices.IndexFunc(called, own); i >= 0 {
			return refers(p, a), called[i]
		}
	}
	return nil, ""
}

// namedIn lists the functions that an expression names, in the order of the source: those that are
// values in it, and those that it calls. literal reports a function literal in it.
func namedIn(p *packages.Package, e ast.Expr) (given, called []string, literal bool) {
	callee := map[*ast.Ident]bool{}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			literal = true
			return false
		case *ast.CallExpr:
			switch fun := ast.Unparen(n.Fun).(type) {
			case *ast.Ident:
				callee[fun] = true
			case *ast.SelectorExpr:
				callee[fun.Sel] = true
			}
		case *ast.Ident:
			f, ok := p.TypesInfo.Uses[n].(*types.Func)
			if !ok {
				break
			}
			if callee[n] {
				called = append(called, nameOf(f))
			} else {
				given = append(given, nameOf(f))
			}
		}
		return true
	})
	return given, called, literal
}

// text is the value of a constant text.
func text(p *packages.Package, e ast.Expr) (string, bool) {
	v := p.TypesInfo.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

func isMethod(s string) bool {
	return slices.Contains([]string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"}, strings.ToUpper(s))
}

// PathOf writes a path in the form of an access log's routes: parameters begin with a
// colon, or with an asterisk where they take all further segments. A segment may have
// several: "/image/{id}.{ext}" is "/image/:id.:ext", "/@{name:[a-z]+}" is "/@:name".
func PathOf(path string) string {
	for strings.Contains(path, "//") { // a group at "/" in another one
		path = strings.ReplaceAll(path, "//", "/")
	}
	path = strings.TrimSuffix(path, "{$}") // net/http: this path and none below it
	var b strings.Builder
	for path != "" {
		open := strings.IndexByte(path, '{')
		end := closing(path, open)
		if open < 0 || end < 0 {
			break
		}
		name, form, _ := strings.Cut(path[open+1:end], ":")
		mark := ":"
		if strings.HasSuffix(name, "...") || form == ".*" || form == ".+" {
			mark = "*"
		}
		b.WriteString(path[:open] + mark + strings.TrimRight(name, "."))
		path = path[end+1:]
	}
	return b.String() + path
}

// closing is the index of the brace that closes the one at open, -1 without one. An
// expression within the braces may have braces too.
func closing(s string, open int) int {
	if open < 0 {
		return -1
	}
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// groups finds the variables that stand for a group of routes: the result of a method
// Group, Route or PathPrefix with a path, the parameter of a function that such a method
// is called with, a router that is mounted at a path, and the parameter of a function of
// the package that is called with a group.
func (g *graph) groups(p *packages.Package) {
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if len(n.Lhs) == 1 && len(n.Rhs) == 1 {
					if id, ok := n.Lhs[0].(*ast.Ident); ok {
						g.group(objectOf(p, id), g.prefix(p, n.Rhs[0]))
					}
				}
			case *ast.CallExpr:
				g.grouped(p, n)
			}
			return true
		})
	}
}

// grouped notes the groups that a call hands to a function or to another router.
func (g *graph) grouped(p *packages.Package, call *ast.CallExpr) {
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	if isSel && sel.Sel.Name == "Mount" && len(call.Args) == 2 {
		if id, ok := call.Args[1].(*ast.Ident); ok {
			if path, ok := text(p, call.Args[0]); ok {
				g.group(objectOf(p, id), below(g.prefix(p, sel.X), path))
			}
		}
		return
	}
	for i, a := range call.Args {
		lit, ok := a.(*ast.FuncLit)
		if ok && i < 2 && len(lit.Type.Params.List) == 1 && len(lit.Type.Params.List[0].Names) == 1 {
			g.group(p.TypesInfo.Defs[lit.Type.Params.List[0].Names[0]], g.prefix(p, call))
		}
	}
	id, ok := call.Fun.(*ast.Ident)
	if isSel {
		id, ok = sel.Sel, true
	}
	if !ok {
		return
	}
	if fn, ok := p.TypesInfo.Uses[id].(*types.Func); ok && fn.Pkg() == p.Types && !fn.Signature().Variadic() {
		params := fn.Signature().Params()
		for i, a := range call.Args[:min(len(call.Args), params.Len())] { // source with errors may have more
			g.addGroups(params.At(i), g.prefix(p, a))
		}
	}
}

func (g *graph) group(of types.Object, prefixes []string) {
	if of != nil && len(prefixes) > 0 {
		g.prefixes[of] = prefixes
	}
}

// mostGroups bounds the paths at which one function registers its routes.
const mostGroups = 16

// addGroups adds the paths of a parameter by one call of its function.
func (g *graph) addGroups(param types.Object, prefixes []string) {
	for _, prefix := range prefixes {
		if known := g.prefixes[param]; len(known) < mostGroups && !slices.Contains(known, prefix) {
			g.prefixes[param] = append(known, prefix)
		}
	}
}

// below are the paths of a group below others; nil where there is no path at all.
func below(prefixes []string, path string) []string {
	var out []string
	for _, prefix := range orNone(prefixes) {
		if prefix+path != "" {
			out = append(out, prefix+path)
		}
	}
	return out
}

// prefix are the paths of the group that an expression stands for; nil for another one. It has
// several where a function registers its routes in several groups.
func (g *graph) prefix(p *packages.Package, e ast.Expr) []string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return g.prefixes[objectOf(p, e)]
	case *ast.CallExpr:
		sel, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		switch sel.Sel.Name {
		case "Group", "Route", "PathPrefix":
			if len(e.Args) == 0 {
				return nil
			}
			path, ok := text(p, e.Args[0])
			if _, inline := e.Args[0].(*ast.FuncLit); !ok && !inline {
				return nil
			}
			return below(g.prefix(p, sel.X), path)
		case "With", "Subrouter", "Host", "Schemes", "Methods": // the same group with a limit
			return g.prefix(p, sel.X)
		}
	}
	return nil
}

func objectOf(p *packages.Package, id *ast.Ident) types.Object {
	if o := p.TypesInfo.Defs[id]; o != nil {
		return o
	}
	return p.TypesInfo.Uses[id]
}
