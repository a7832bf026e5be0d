package rewrite

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// A poolEngine is what the connections of a pool reach.
type poolEngine uint8

const (
	unknownPool poolEngine = iota
	filePool               // a SQLite file
	serverPool             // a database server
	anyPool                // of a recursion: the other sources decide
)

// pools finds what a pool reaches by the calls that open it: through variables,
// fields, parameters and results of the package.
type pools struct {
	pass   *analysis.Pass
	calls  *sqlcall.Result
	set    map[types.Object][]ast.Expr // what a variable or a field is set to
	other  map[types.Object]bool       // set in another way, or its address is taken
	params map[types.Object]parameter
	known  map[types.Object]poolEngine
	// impatient: a SQLite file is opened without a time to wait for its lock.
	impatient bool
}

// A parameter is a position among the parameters of a function.
type parameter struct {
	fn *types.Func
	i  int
}

func newPools(pass *analysis.Pass) *pools {
	p := &pools{pass: pass, calls: callsOf(pass), set: map[types.Object][]ast.Expr{}, other: map[types.Object]bool{},
		params: map[types.Object]parameter{}, known: map[types.Object]poolEngine{}}
	for _, f := range pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			p.index(n)
			return true
		})
	}
	return p
}

func (p *pools) index(n ast.Node) {
	info := p.pass.TypesInfo
	switch n := n.(type) {
	case *ast.AssignStmt:
		p.assigned(n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		lhs := make([]ast.Expr, len(n.Names))
		for i, name := range n.Names {
			lhs[i] = name
		}
		p.assigned(lhs, n.Values)
	case *ast.RangeStmt:
		p.other[p.object(n.Key)], p.other[p.object(n.Value)] = true, true
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			p.other[p.object(n.X)] = true
		}
	case *ast.CompositeLit:
		s, _ := info.TypeOf(n).Underlying().(*types.Struct)
		for i, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && s != nil {
				if id, ok := kv.Key.(*ast.Ident); ok {
					p.set[info.ObjectOf(id)] = append(p.set[info.ObjectOf(id)], kv.Value)
				}
			} else if s != nil && i < s.NumFields() {
				p.set[s.Field(i)] = append(p.set[s.Field(i)], e)
			}
		}
	case *ast.CallExpr:
		if o, ok := opensByName(p.pass, n); ok && isFileDSN(p.pass, n.Args[o.DSN]) {
			p.impatient = p.impatient || !strings.Contains(constantText(p.pass, n.Args[o.DSN]), "busy_timeout") && !importsAny(p.pass, "github.com/mattn/go-sqlite3")
		}
	case *ast.FuncDecl:
		fn, _ := info.Defs[n.Name].(*types.Func)
		if fn == nil {
			return
		}
		for i := range fn.Signature().Params().Len() {
			p.params[fn.Signature().Params().At(i)] = parameter{fn, i}
		}
	}
}

func (p *pools) assigned(lhs, rhs []ast.Expr) {
	for i, l := range lhs {
		obj := p.object(l)
		switch {
		case obj == nil:
		case len(lhs) == len(rhs):
			p.set[obj] = append(p.set[obj], rhs[i])
		case len(rhs) == 1 && i == 0:
			p.set[obj] = append(p.set[obj], rhs[0])
		case len(rhs) > 0:
			p.other[obj] = true
		}
	}
}

// object is the variable or the field that an expression names, nil for others.
func (p *pools) object(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		return p.pass.TypesInfo.ObjectOf(e)
	case *ast.SelectorExpr:
		return p.pass.TypesInfo.ObjectOf(e.Sel)
	}
	return nil
}

// of is what the pool that an expression names, or returns, reaches.
func (p *pools) of(e ast.Expr) poolEngine {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		return p.opened(call)
	}
	v, ok := p.object(e).(*types.Var)
	if !ok || v.Pkg() != p.pass.Pkg {
		return unknownPool
	}
	if known, ok := p.known[v]; ok {
		return known
	}
	p.known[v] = anyPool
	p.known[v] = p.variable(v)
	return p.known[v]
}

func (p *pools) variable(v *types.Var) poolEngine {
	global := v.IsField() || v.Parent() == p.pass.Pkg.Scope()
	if p.other[v] || global && v.Exported() && p.pass.Pkg.Name() != "main" {
		return unknownPool
	}
	sources := p.set[v]
	if param, ok := p.params[v]; ok {
		args, known := p.arguments(param)
		if !known {
			return unknownPool
		}
		sources = append(slices.Clone(sources), args...)
	}
	return p.common(sources)
}

// common is what all pools of a list reach.
func (p *pools) common(list []ast.Expr) poolEngine {
	found := anyPool
	for _, e := range list {
		if p.pass.TypesInfo.Types[e].IsNil() {
			continue
		}
		one := p.of(e)
		if found == anyPool {
			found = one
		} else if one != anyPool && one != found {
			return unknownPool
		}
	}
	if found == anyPool {
		return unknownPool
	}
	return found
}

// arguments are the values that all calls give a parameter. known is false if the
// function may be called by other code.
func (p *pools) arguments(param parameter) (args []ast.Expr, known bool) {
	if param.fn.Exported() && p.pass.Pkg.Name() != "main" || param.fn.Signature().Variadic() && param.i == param.fn.Signature().Params().Len()-1 {
		return nil, false
	}
	if param.fn.Signature().Recv() != nil && p.interfaceMethod(param.fn.Name()) {
		return nil, false
	}
	for _, use := range usesOf(p.pass, param.fn) {
		name, up := use, use.Parent()
		if sel, is := up.Node().(*ast.SelectorExpr); is && sel.Sel == use.Node() {
			name, up = up, up.Parent()
		}
		call, ok := up.Node().(*ast.CallExpr)
		if !ok || call.Fun != name.Node() || call.Ellipsis.IsValid() || param.i >= len(call.Args) {
			return nil, false
		}
		args = append(args, call.Args[param.i])
	}
	return args, true
}

// interfaceMethod reports whether the package calls a method of a name through an
// interface.
func (p *pools) interfaceMethod(name string) bool {
	for _, obj := range p.pass.TypesInfo.Uses {
		if fn, ok := obj.(*types.Func); ok && fn.Name() == name && fn.Signature().Recv() != nil && types.IsInterface(fn.Signature().Recv().Type()) {
			return true
		}
	}
	return false
}

// opened is what the pool that a call returns reaches.
func (p *pools) opened(call *ast.CallExpr) poolEngine {
	fn, _ := typeutil.Callee(p.pass.TypesInfo, call).(*types.Func)
	if fn == nil {
		return unknownPool
	}
	if o, ok := opensByName(p.pass, call); ok {
		return p.openedBy(o)
	}
	if pool := begun(p.pass, call); pool != nil {
		return p.of(pool)
	}
	var inner []ast.Expr // of a function literal that opens: f(dsn, func() (*sql.DB, error) { … })
	for _, a := range call.Args {
		if lit, ok := a.(*ast.FuncLit); ok {
			inner = append(inner, returned(lit.Body)...)
		}
	}
	if len(inner) > 0 {
		return p.common(inner)
	}
	decl := p.calls.Decl(fn)
	if decl == nil || decl.Body == nil {
		return unknownPool
	}
	return p.common(returned(decl.Body))
}

// begun is the pool in which a call begins a transaction, nil for other calls.
func begun(pass *analysis.Pass, call *ast.CallExpr) ast.Expr {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !isPool(pass.TypesInfo.TypeOf(sel.X)) || !slices.Contains([]string{"Begin", "Beginx", "BeginTx", "BeginTxx", "MustBegin", "MustBeginTx"}, sel.Sel.Name) {
		return nil
	}
	return sel.X
}

// opensByName is the pool that a call opens by the name of a driver and a DSN.
func opensByName(pass *analysis.Pass, call *ast.CallExpr) (goapp.Open, bool) {
	o, ok := goapp.OpenIn(pass.TypesInfo, call)
	return o, ok && o.By == goapp.Plain
}

// openedBy decides by the name of the driver, and where it is not a constant, by the DSN.
func (p *pools) openedBy(o goapp.Open) poolEngine {
	switch {
	case isFileDSN(p.pass, o.Call.Args[o.DSN]):
		return filePool
	case goapp.ReachOf(o.Name) == goapp.Server:
		return serverPool
	}
	return unknownPool
}

// returned are the first results of a function body.
func returned(body *ast.BlockStmt) (out []ast.Expr) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 { // what a named result holds is not known
				out = append(out, &ast.BadExpr{From: n.Pos(), To: n.End()})
				break
			}
			out = append(out, n.Results[0])
		}
		return true
	})
	return out
}

// isFileDSN reports whether a DSN begins with the scheme of a file, without a database
// in memory.
func isFileDSN(pass *analysis.Pass, e ast.Expr) bool {
	text := constantText(pass, e)
	return strings.HasPrefix(text, "file:") && !strings.HasPrefix(text, "file::") && !strings.Contains(text, "memory")
}

// constantText is a text with a hole for each part that is not constant. Of fmt.Sprintf
// it is the format.
func constantText(pass *analysis.Pass, e ast.Expr) (text string) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) > 0 {
		if fn, ok := typeutil.Callee(pass.TypesInfo, call).(*types.Func); ok && isFunc(fn, "fmt", "Sprintf") {
			e = ast.Unparen(call.Args[0])
		}
	}
	for _, part := range operands(e, token.ADD) {
		if v := pass.TypesInfo.Types[part].Value; v != nil && v.Kind() == constant.String {
			text += constant.StringVal(v)
		} else {
			text += sqlcall.Hole
		}
	}
	return text
}

// importsAny reports whether a file of the package imports a path.
func importsAny(pass *analysis.Pass, path string) bool {
	return slices.ContainsFunc(pass.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == path })
}

// isPool reports whether a type is a pool of database/sql or sqlx.
func isPool(t types.Type) bool {
	if t == nil {
		return false
	}
	named := namedOf(t)
	return named != nil && named.Obj().Pkg() != nil && named.Obj().Name() == "DB" &&
		slices.Contains([]string{"database/sql", "github.com/jmoiron/sqlx"}, named.Obj().Pkg().Path())
}
