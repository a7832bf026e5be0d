package gosource

import (
	"context"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/goapp"
	"golang.org/x/tools/go/packages"
)

// A RouteHandler is a route with its handler.
type RouteHandler struct {
	Route string // method and path, as in "GET /a/:id"; "ANY" for every method
	iikanji.Handler
}

// Handlers loads the packages in a folder and finds their routes, see handlersIn.
func Handlers(ctx context.Context, dir string) ([]RouteHandler, error) {
	pkgs, err := goapp.Load(ctx, dir, "./...")
	if err != nil {
		return nil, err
	}
	handlers, _ := handlersIn(pkgs, nil)
	return handlers, nil
}

// handlersIn finds the calls that register a function for a path, by the form that
// net/http and the common routers share: a method such as GET, Get, Handle or
// HandleFunc whose first arguments are constant texts with a path and whose last one
// is a function. Prefixes of groups are added where the group is made with a
// constant path. others are the folders of programs that register nothing while
// another program does, such as a generator of data beside a web app. Only packages in
// the folders of are read; nil stands for all.
func handlersIn(all []*packages.Package, of map[string]bool) (out []RouteHandler, others []string) {
	var pkgs []*packages.Package
	for _, p := range all {
		if p.TypesInfo != nil && (of == nil || of[p.Dir]) {
			pkgs = append(pkgs, p)
		}
	}
	g := &graph{calls: map[string]map[string]bool{}, prefixes: map[types.Object]string{}}
	for _, p := range pkgs {
		g.add(p)
	}
	for _, p := range pkgs {
		g.groups(p)
	}
	serves := false
	for _, p := range pkgs {
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
	slices.SortFunc(out, func(a, b RouteHandler) int { return strings.Compare(a.Route+" "+a.Func, b.Route+" "+b.Func) })
	return slices.CompactFunc(out, func(a, b RouteHandler) bool { return a.Route == b.Route && a.Func == b.Func }), others
}

// A graph has the functions that each function of the module refers to. A method of
// an interface stands for all methods of that name.
type graph struct {
	calls    map[string]map[string]bool
	methods  map[string][]string     // concrete methods by name
	prefixes map[types.Object]string // paths of groups, by the variable
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
func (g *graph) routes(p *packages.Package) []RouteHandler {
	var out []RouteHandler
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if h, ok := g.route(p, fn, call); ok {
						out = append(out, h)
					}
				}
				return true
			})
		}
	}
	return out
}

// route reads one call.
func (g *graph) route(p *packages.Package, in *ast.FuncDecl, call *ast.CallExpr) (h RouteHandler, ok bool) {
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	if !isSel || len(call.Args) < 2 {
		return h, false
	}
	method, known := verbs[sel.Sel.Name]
	if !known {
		return h, false
	}
	args := call.Args
	first, isText := text(p, args[0])
	if isText && isMethod(first) && len(args) > 2 {
		method, args = strings.ToUpper(first), args[1:]
		first, isText = text(p, args[0])
	}
	if at, path, spaced := strings.Cut(first, " "); spaced && isMethod(at) { // net/http's own patterns
		method, first = at, strings.TrimSpace(path)
	}
	if !isText || !strings.HasPrefix(first, "/") && first != "" {
		return h, false
	}
	from, name := g.handler(p, in, args[1:])
	if name == "" {
		return h, false
	}
	if method == "" {
		method = "ANY"
	}
	h.Route = method + " " + pathOf(g.prefix(p, sel.X)+first)
	h.Func, h.Reaches = name, g.reaches(from)
	return h, true
}

// handler finds the function among the arguments: the first that is one of the
// module's functions, also inside of a call that wraps it. A function literal is
// named after the function that it is in.
func (g *graph) handler(p *packages.Package, in *ast.FuncDecl, args []ast.Expr) (from map[string]bool, name string) {
	for _, a := range args {
		if lit, ok := a.(*ast.FuncLit); ok {
			return refers(p, lit), FuncName(in)
		}
		named := refers(p, a)
		for _, n := range slices.Sorted(maps.Keys(named)) {
			if g.calls[n] != nil {
				return map[string]bool{n: true}, n
			}
		}
	}
	return nil, ""
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

// pathOf writes a path in the form of an access log's routes: parameters begin with
// a colon, or with an asterisk where they take all further segments.
func pathOf(path string) string {
	parts := strings.Split(strings.ReplaceAll(path, "//", "/"), "/")
	for i, s := range parts {
		inner, ok := strings.CutPrefix(s, "{")
		if end := strings.LastIndexByte(inner, '}'); ok && end >= 0 { // an ending may follow
			name, form, _ := strings.Cut(inner[:end], ":")
			mark := ":"
			if strings.HasSuffix(name, "...") || form == ".*" {
				mark = "*"
			}
			parts[i] = mark + strings.TrimRight(name, ".") + inner[end+1:]
		}
	}
	return strings.Join(parts, "/")
}

// groups finds the variables that stand for a group of routes: the result of a
// method Group with a path, and the parameter of a function that a method Route or
// Group is called with.
func (g *graph) groups(p *packages.Package) {
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if len(n.Lhs) == 1 && len(n.Rhs) == 1 {
					if id, ok := n.Lhs[0].(*ast.Ident); ok {
						g.group(p, objectOf(p, id), n.Rhs[0])
					}
				}
			case *ast.CallExpr:
				if len(n.Args) < 2 {
					return true
				}
				if lit, ok := n.Args[1].(*ast.FuncLit); ok && len(lit.Type.Params.List) == 1 && len(lit.Type.Params.List[0].Names) == 1 {
					g.group(p, p.TypesInfo.Defs[lit.Type.Params.List[0].Names[0]], n)
				}
			}
			return true
		})
	}
}

func (g *graph) group(p *packages.Package, of types.Object, e ast.Expr) {
	call, ok := e.(*ast.CallExpr)
	if !ok || of == nil || len(call.Args) == 0 {
		return
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Group" && sel.Sel.Name != "Route" && sel.Sel.Name != "PathPrefix" {
		return
	}
	if path, ok := text(p, call.Args[0]); ok {
		g.prefixes[of] = g.prefix(p, sel.X) + path
	}
}

// prefix is the path of the group that an expression stands for.
func (g *graph) prefix(p *packages.Package, e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return g.prefixes[objectOf(p, id)]
	}
	return ""
}

func objectOf(p *packages.Package, id *ast.Ident) types.Object {
	if o := p.TypesInfo.Defs[id]; o != nil {
		return o
	}
	return p.TypesInfo.Uses[id]
}
