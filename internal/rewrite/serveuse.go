package rewrite

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// A ServeSource is where the source of an app begins to serve HTTP.
type ServeSource struct {
	Fixes  []goapp.Fix       // that wrap every handler; none if they are wrapped already
	Files  map[string][]byte // the files of all packages, as read
	Serves int               // places that serve
	// Blockers are the reasons why some requests would not pass the wrapper.
	Blockers []string
}

// Serve reads the packages of a module folder and wraps what they serve by the function
// Handler of the package with an import path. It knows net/http and echo.
func Serve(ctx context.Context, dir, importPath string) (*ServeSource, error) {
	pkgs, err := goapp.Load(ctx, dir, "./...")
	if err != nil {
		return nil, err
	}
	return serveOf(dir, pkgs, importPath)
}

// serveOf is Serve on packages that are loaded.
func serveOf(dir string, pkgs []*packages.Package, importPath string) (*ServeSource, error) {
	uses := &analysis.Analyzer{Name: "serveuse", Doc: "find where an app begins to serve HTTP",
		Run:        func(pass *analysis.Pass) (any, error) { return serveUseOf(indexOf(pass), importPath), nil },
		ResultType: reflect.TypeFor[*serveUse](), Requires: []*analysis.Analyzer{indexAnalyzer}}
	graph, res, err := analyse(dir, pkgs, uses)
	if err != nil {
		return nil, err
	}
	out := &ServeSource{Files: res.Files}
	for _, p := range res.Problems {
		out.Blockers = append(out.Blockers, p.Package+": "+p.Text)
	}
	if graph == nil {
		return out, nil
	}
	for _, act := range graph.Roots {
		u, ok := act.Result.(*serveUse)
		if !ok || act.Package.PkgPath == importPath {
			continue
		}
		if err := out.add(u); err != nil {
			return nil, fmt.Errorf("reading %s: %w", act.Package.PkgPath, err)
		}
	}
	return out, nil
}

func (s *ServeSource) add(u *serveUse) error {
	s.Serves += u.serves
	s.Blockers = append(s.Blockers, u.blockers...)
	if len(u.rw.edits) == 0 {
		return nil
	}
	fix, ok := u.rw.fix("wrap the handlers")
	if !ok {
		return errName
	}
	s.Fixes = append(s.Fixes, goapp.Fix{Title: fix.Message, Edits: offsets(u.x.pass.Fset, fix.TextEdits)})
	return nil
}

// A serveUse is where one package serves HTTP.
type serveUse struct {
	x        *index
	rw       *rewrite
	path     string // import path of the wrapper's package
	serves   int
	blockers []string
}

const (
	echoPath = "github.com/labstack/echo/v4"
	ginPath  = "github.com/gin-gonic/gin"
	httpPath = "net/http"
)

func serveUseOf(x *index, path string) *serveUse {
	u := &serveUse{x: x, rw: x.rewrite(), path: path}
	for _, f := range x.files {
		u.imports(f)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				u.call(n)
			case *ast.CompositeLit:
				u.server(n)
			}
			return true
		})
	}
	return u
}

// call wraps the handler of a call that serves.
func (u *serveUse) call(c *ast.CallExpr) {
	fn := u.x.callee(c)
	switch {
	case isFunc(fn, httpPath, "ListenAndServe", "Serve"):
		u.wrap(c.Args[1])
	case isFunc(fn, httpPath, "ListenAndServeTLS"):
		u.wrap(c.Args[3])
	case isFunc(fn, httpPath, "ServeTLS"):
		u.wrap(c.Args[1])
	case isFunc(fn, echoPath, "Echo.Start", "Echo.StartTLS", "Echo.StartAutoTLS", "Echo.StartH2CServer"):
		u.echo(c)
	case isFunc(fn, ginPath, "Engine.Run", "Engine.RunTLS", "Engine.RunUnix", "Engine.RunFd", "Engine.RunListener"), isFunc(fn, echoPath, "Echo.StartServer"):
		u.block(c, "a server is started in a way that is not supported")
	}
}

// otherServers are packages that serve HTTP without package net/http.
var otherServers = []string{"github.com/valyala/fasthttp", "github.com/gofiber/fiber", "github.com/kataras/iris", "github.com/beego/beego", "golang.org/x/net/http2/h2c"}

func (u *serveUse) imports(f *ast.File) {
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err == nil && slices.ContainsFunc(otherServers, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") }) {
			u.block(spec, "%s serves requests of its own", path)
		}
	}
}

// block notes why some requests would not pass the wrapper, with the place.
func (u *serveUse) block(n ast.Node, format string, args ...any) {
	at := u.x.pass.Fset.Position(n.Pos())
	u.blockers = append(u.blockers, fmt.Sprintf("%s:%d: ", filepath.Base(at.Filename), at.Line)+fmt.Sprintf(format, args...))
}

// wrap puts the wrapper around a handler, unless it is there.
func (u *serveUse) wrap(h ast.Expr) {
	u.serves++
	if call, ok := ast.Unparen(h).(*ast.CallExpr); ok && isFunc(u.x.callee(call), u.path, "Handler") {
		return
	}
	text := u.x.text(h)
	if id, ok := ast.Unparen(h).(*ast.Ident); ok && id.Name == "nil" {
		text = u.rw.pkg(h.Pos(), httpPath) + ".DefaultServeMux"
	}
	u.rw.replace(h, u.rw.pkg(h.Pos(), u.path)+".Handler("+text+")")
}

// server wraps the handler of an http.Server. The literal must have the field Handler.
func (u *serveUse) server(lit *ast.CompositeLit) {
	named := namedOf(u.x.pass.TypesInfo.TypeOf(lit))
	if named == nil || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != httpPath || named.Obj().Name() != "Server" {
		return
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Handler" {
			u.wrap(kv.Value)
			return
		}
	}
	u.block(lit, "an http.Server gets its handler elsewhere")
}

// echo has an echo server use the wrapper ahead of everything else.
func (u *serveUse) echo(c *ast.CallExpr) {
	u.serves++
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	at, err := u.before(c)
	if !ok || err != nil {
		u.block(c, "echo is started outside of functions")
		return
	}
	id, ok := ast.Unparen(sel.X).(*ast.Ident)
	if !ok {
		u.block(c, "echo is started from an expression")
		return
	}
	if u.wrapped(u.x.variable(id)) {
		return
	}
	u.rw.insert(at.Pos(), fmt.Sprintf("%s.Pre(%s.WrapMiddleware(%s.Handler)) // sees every request\n", id.Name, u.rw.pkg(c.Pos(), echoPath), u.rw.pkg(c.Pos(), u.path)))
}

// wrapped reports whether an echo server uses the wrapper already.
func (u *serveUse) wrapped(e *types.Var) bool {
	for _, id := range u.x.uses[e] {
		sel, ok := u.x.parent[id].(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Pre" {
			continue
		}
		call, ok := u.x.parent[sel].(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			continue
		}
		mw, ok := call.Args[0].(*ast.CallExpr)
		if !ok || len(mw.Args) != 1 {
			continue
		}
		if fn, ok := mw.Args[0].(*ast.SelectorExpr); ok {
			if f, ok := u.x.pass.TypesInfo.Uses[fn.Sel].(*types.Func); ok && isFunc(f, u.path, "Handler") {
				return true
			}
		}
	}
	return false
}

var errNoBlock = errors.New("it is in no block")

// before is the statement of a block around a node.
func (u *serveUse) before(n ast.Node) (ast.Stmt, error) {
	for n != nil {
		up := u.x.parent[n]
		if _, ok := up.(*ast.BlockStmt); ok {
			if s, ok := n.(ast.Stmt); ok {
				return s, nil
			}
		}
		n = up
	}
	return nil, errNoBlock
}
