package ties

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// divide finds which functions run while a request is answered: those with a parameter of a
// request, and all that they name. The rest runs when the app starts, or beside the requests.
func (s *source) divide() {
	for _, p := range s.all {
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
					if obj, ok := p.TypesInfo.Defs[d.Name].(*types.Func); ok {
						s.decls[obj] = &function{p, d}
					}
				}
			}
			s.typesIn(p, f)
		}
	}
	var todo []ast.Node
	pkgOf := map[ast.Node]*packages.Package{}
	add := func(p *packages.Package, n ast.Node) {
		pkgOf[n] = p
		todo = append(todo, n)
	}
	for obj, f := range s.decls {
		if takesRequest(f.pkg, f.decl.Type) || answersCall(f.pkg, f.decl) {
			s.request[obj] = true
			add(f.pkg, f.decl.Body)
		}
	}
	for _, p := range s.all {
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.FuncLit); ok && takesRequest(p, lit.Type) {
					add(p, lit.Body)
				}
				return true
			})
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for fn := range s.named(pkgOf[n], n) {
			if f := s.decls[fn]; !s.request[fn] {
				s.request[fn] = true
				add(f.pkg, f.decl.Body)
			}
		}
	}
	s.divideBodies()
}

// named are the declared functions that a piece of source names. A method of an interface
// stands for all methods of its name.
func (s *source) named(p *packages.Package, n ast.Node) map[*types.Func]bool {
	out := map[*types.Func]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		fn, ok := p.TypesInfo.Uses[id].(*types.Func)
		if !ok {
			return true
		}
		if fn = fn.Origin(); s.decls[fn] != nil {
			out[fn] = true
		} else if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			for other := range s.decls {
				if other.Name() == fn.Name() && other.Signature().Recv() != nil {
					out[other] = true
				}
			}
		}
		return true
	})
	return out
}

// divideBodies lists what runs in requests and what runs otherwise.
func (s *source) divideBodies() {
	for _, p := range s.all {
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				d, ok := d.(*ast.FuncDecl)
				if !ok || d.Body == nil {
					continue
				}
				obj, _ := p.TypesInfo.Defs[d.Name].(*types.Func)
				b := body{pkg: p, name: goapp.FuncName(d), node: d, code: d.Body, recv: receiver(p, d)}
				if obj != nil && s.request[obj] {
					s.bodies = append(s.bodies, b)
					continue
				}
				s.starts = append(s.starts, b)
				for _, lit := range requestLiterals(p, d.Body) {
					s.bodies = append(s.bodies, body{pkg: p, name: b.name, node: lit, code: lit.Body, recv: b.recv})
				}
			}
		}
	}
}

func receiver(p *packages.Package, d *ast.FuncDecl) types.Object {
	if d.Recv == nil || len(d.Recv.List) == 0 || len(d.Recv.List[0].Names) == 0 {
		return nil
	}
	return p.TypesInfo.Defs[d.Recv.List[0].Names[0]]
}

// requestLiterals are the outermost literals that take a request.
func requestLiterals(p *packages.Package, in ast.Node) (out []*ast.FuncLit) {
	ast.Inspect(in, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && takesRequest(p, lit.Type) {
			out = append(out, lit)
			return false
		}
		return true
	})
	return out
}

// requestTypes are the types of parameters by which routers hand a request over, in any
// package but those of notRequest.
var requestTypes = []string{"Request", "ResponseWriter", "Ctx", "RequestCtx", "Context", "Params"}

// notRequest are packages with types of these names that are none.
var notRequest = []string{"context", "html/template", "github.com/urfave/cli", "github.com/urfave/cli/v2", "go/build"}

func takesRequest(p *packages.Package, f *ast.FuncType) bool {
	if f.Params == nil {
		return false
	}
	return slices.ContainsFunc(f.Params.List, func(field *ast.Field) bool { return isRequest(p, field.Type, 0) })
}

func isRequest(p *packages.Package, e ast.Expr, depth int) bool {
	importPath, name := outside(p, e)
	if importPath != "" {
		return slices.Contains(requestTypes, name) && !slices.Contains(notRequest, importPath)
	}
	t := p.TypesInfo.TypeOf(e) // of the app, with a request inside
	if t == nil || depth > 0 {
		return false
	}
	named := namedOf(t)
	if named == nil {
		return false
	}
	st, ok := named.Underlying().(*types.Struct)
	if !ok || !strings.HasSuffix(named.Obj().Name(), "Context") && !strings.HasSuffix(named.Obj().Name(), "Ctx") {
		return false
	}
	for v := range st.Fields() {
		if v.Embedded() && slices.Contains(requestTypes, v.Name()) {
			return true
		}
	}
	return false
}

// answersCall reports whether a method has the form of a call of gRPC: (ctx, *In) (*Out, error).
func answersCall(p *packages.Package, d *ast.FuncDecl) bool {
	f := d.Type
	if d.Recv == nil || f.Params == nil || f.Results == nil || f.Params.NumFields() != 2 || f.Results.NumFields() != 2 || !d.Name.IsExported() {
		return false
	}
	importPath, name := outside(p, f.Params.List[0].Type)
	in, pointer := f.Params.List[len(f.Params.List)-1].Type.(*ast.StarExpr)
	_, out := f.Results.List[0].Type.(*ast.StarExpr)
	if importPath != "context" || name != "Context" || !pointer || !out {
		return false
	}
	from, _ := outside(p, in)
	return from != ""
}

// namedOf is the named type behind pointers, nil for another one.
func namedOf(t types.Type) *types.Named {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

// typesIn notes how variables and fields are declared, and which types have values that
// outlive a request: those of package variables, and those that are made outside of requests.
func (s *source) typesIn(p *packages.Package, f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, id := range n.Names {
				switch {
				case n.Type != nil:
					s.typing[p.TypesInfo.Defs[id]] = n.Type
				case i < len(n.Values):
					s.typing[p.TypesInfo.Defs[id]] = n.Values[i]
				case len(n.Values) == 1:
					s.typing[p.TypesInfo.Defs[id]] = n.Values[0]
				}
			}
		case *ast.Field:
			for _, id := range n.Names {
				s.typing[p.TypesInfo.Defs[id]] = n.Type
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && p.TypesInfo.Defs[id] != nil {
					s.typing[p.TypesInfo.Defs[id]] = n.Rhs[min(i, len(n.Rhs)-1)]
				}
			}
		case *ast.ImportSpec:
			s.imports[strings.Trim(n.Path.Value, "`\"")] = n
		}
		return true
	})
}
