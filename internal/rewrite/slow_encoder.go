package rewrite

import (
	"go/ast"
	"go/types"
	"strconv"
)

var slowEncoder = Lever{Code: "APP208", Title: "slow encoder",
	Line:    "a list is encoded by encoding/json",
	Promise: TestedOnly, Order: 9, Saved: Share{Lo: 0.02, Hi: 0.3}, Of: OfFunction,
	find: findSlowEncoders,
}

// findSlowEncoders finds large answers that encoding/json writes. Where the application
// has a compatible faster encoder already, the call uses that one.
func findSlowEncoders(r *reporter) error {
	e := &encoders{r: r, x: indexOf(r.pass)}
	e.fast = e.available()
	for _, f := range e.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && e.x.inRequest(c) {
				e.call(c)
			}
			return true
		})
	}
	return nil
}

type encoders struct {
	r    *reporter
	x    *index
	fast *dropIn
}

// A dropIn is a package with the functions of encoding/json.
type dropIn struct {
	path, name string
	prefix     string // what comes between the package and the function: "ConfigStd."
}

// dropIns are encoders that document byte-equal output, the fastest first.
var dropIns = []dropIn{
	{"github.com/bytedance/sonic", "sonic", "ConfigStd."},
	{"github.com/goccy/go-json", "gojson", ""},
	{"github.com/json-iterator/go", "jsoniter", "ConfigCompatibleWithStandardLibrary."},
}

// available returns a drop-in that the package imports, itself or through others:
// no other module can be used without changing go.mod.
func (e *encoders) available() *dropIn {
	seen := map[*types.Package]bool{}
	paths := map[string]bool{}
	var visit func(*types.Package)
	visit = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		paths[p.Path()] = true
		for _, i := range p.Imports() {
			visit(i)
		}
	}
	visit(e.x.pass.Pkg)
	for i := range dropIns {
		if paths[dropIns[i].path] {
			return &dropIns[i]
		}
	}
	return nil
}

// call reports a call that encodes a list or a map, or a struct that has one.
func (e *encoders) call(c *ast.CallExpr) {
	fn := e.x.callee(c)
	var value ast.Expr
	var pkg *ast.SelectorExpr // json.Marshal, json.NewEncoder
	framework := false
	switch {
	case isFunc(fn, "encoding/json", "Marshal"):
		value, pkg = c.Args[0], selector(c.Fun)
	case isFunc(fn, "encoding/json", "Encoder.Encode"):
		sel := selector(c.Fun)
		made, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok || !isFunc(e.x.callee(made), "encoding/json", "NewEncoder") {
			return
		}
		value, pkg = c.Args[0], selector(made.Fun)
	case fn != nil && fn.Name() == "JSON" && fn.Signature().Recv() != nil && isRequest(fn.Signature().Recv().Type()) && len(c.Args) == 2:
		value, framework = c.Args[1], true
	default:
		return
	}
	if !e.large(e.x.typeOf(value), 3) {
		return
	}
	p := place{node: c, what: "a list is encoded by encoding/json", proof: Tested, promise: TestedOnly,
		how: "use a compatible faster encoder: none is a module of the application yet"}
	if framework {
		p.how = "set a faster encoder in the framework"
	}
	if e.r.needs(!framework, c, "the framework encodes, for all routes together") && e.r.needs(e.fast != nil, c, "go.mod requires no compatible faster encoder") &&
		e.r.needs(pkg != nil && isIdent(pkg.X), c, "the encoder is not called by the name of its package") {
		rw := e.x.rewrite()
		rw.replace(pkg.X, rw.pkgAs(c, e.fast.path, e.fast.name)+trimDot(e.fast.prefix))
		if fix, ok := rw.fix("use " + e.fast.path); e.r.needs(ok, c, nameTaken) {
			p.how, p.fixes = "use "+e.fast.path, fix1(fix)
		}
	}
	if len(p.fixes) == 0 {
		p.promise = NoPromise
	}
	e.r.report(p)
}

func trimDot(prefix string) string {
	if prefix == "" {
		return ""
	}
	return "." + prefix[:len(prefix)-1]
}

func selector(e ast.Expr) *ast.SelectorExpr {
	s, _ := ast.Unparen(e).(*ast.SelectorExpr)
	return s
}

// large reports whether a type can hold many values.
func (e *encoders) large(t types.Type, depth int) bool {
	if t == nil || depth == 0 {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		b, isBasic := u.Elem().Underlying().(*types.Basic)
		return !isBasic || b.Kind() != types.Byte
	case *types.Pointer:
		return e.large(u.Elem(), depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() && e.large(f.Type(), depth-1) {
				return true
			}
		}
	}
	return false
}

// pkgAs returns the name of a package, which it imports under a name of its own
// where the file does not import it yet.
func (r *rewrite) pkgAs(at ast.Node, importPath, name string) string {
	file := r.x.fileOf(at.Pos())
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && p == importPath {
			if n := r.x.importName(spec); n != "_" && n != "." {
				r.failed = r.failed || r.x.shadowed(at.Pos(), n)
				return n
			}
		}
	}
	if r.x.names[name] {
		r.failed = true
	}
	r.addNamedImport(file, name, importPath)
	return name
}
