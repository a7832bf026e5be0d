package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
)

var madeAnew = Lever{Code: "APP206", Title: "made anew each time",
	Line:    "a handler makes a value whose arguments never change",
	Promise: Freshness, Order: 7, Saved: Share{Lo: 0.05, Hi: 0.5}, Of: OfFunction,
	find: findMadeAnew,
}

// findMadeAnew finds values that are made anew for each request although their
// arguments never change, and moves them to the package.
func findMadeAnew(r *reporter) error {
	h := &hoister{r: r, x: indexOf(r.pass)}
	for _, f := range h.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if m := h.match(e); m != nil {
					h.report(e, m)
					return false
				}
			}
			return true
		})
	}
	return nil
}

// A maker is a way to make a value.
type maker struct {
	what    string // "a regular expression is compiled"
	suffix  string // of the new name: "Pattern"
	lazy    bool   // made at the first use: it may fail, or reads a file
	pair    bool   // the second result is an error
	promise Promise
	// safe reports whether the value may be shared: nothing changes it.
	safe func(h *hoister, e ast.Expr) bool
	hint bool // no fix
	why  refusal
	// keyed: it is made once for each of some texts.
	keyed *keyed
}

type hoister struct {
	r *reporter
	x *index
}

// match returns how a value is made, or nil if the expression makes none whose
// arguments are fixed.
func (h *hoister) match(e ast.Expr) *maker {
	switch e := e.(type) {
	case *ast.CallExpr:
		return h.matchCall(e)
	case *ast.UnaryExpr:
		lit, ok := e.X.(*ast.CompositeLit)
		if e.Op == token.AND && ok && isNamed(h.x.typeOf(lit), "net/http", "Client") && h.fixed(e) && h.ownTransport(lit) {
			return &maker{what: "an HTTP client with its own connections is made", suffix: "Client", safe: (*hoister).clientSafe}
		}
	}
	return nil
}

// makers are the functions that make a value from their arguments alone.
var makers = []struct {
	path  string
	names []string
	maker maker
}{
	{"regexp", []string{"MustCompile", "MustCompilePOSIX"}, maker{what: "a regular expression is compiled", suffix: "Pattern", safe: (*hoister).patternSafe}},
	{"regexp", []string{"Compile", "CompilePOSIX"}, maker{what: "a regular expression is compiled", suffix: "Pattern", lazy: true, pair: true, safe: (*hoister).patternSafe}},
	{"strings", []string{"NewReplacer"}, maker{what: "a replacer is built", suffix: "Replacer", safe: (*hoister).anyUse}},
	{"time", []string{"LoadLocation"}, maker{what: "a time zone is loaded", suffix: "Location", lazy: true, pair: true, safe: (*hoister).anyUse}},
	{"os", []string{"ReadFile"}, maker{what: "a file is read", suffix: "Content", lazy: true, pair: true, promise: Freshness, safe: (*hoister).bytesSafe}},
	{"io/ioutil", []string{"ReadFile"}, maker{what: "a file is read", suffix: "Content", lazy: true, pair: true, promise: Freshness, safe: (*hoister).bytesSafe}},
	{"encoding/json", []string{"Marshal"}, maker{what: "a constant is encoded", suffix: "JSON", lazy: true, pair: true, safe: (*hoister).bytesSafe}},
	{"database/sql", []string{"Open"}, maker{what: "a pool of connections is opened", suffix: "DB", lazy: true, pair: true, safe: (*hoister).poolSafe}},
	{"github.com/jmoiron/sqlx", []string{"Open", "Connect"}, maker{what: "a pool of connections is opened", suffix: "DB", lazy: true, pair: true, safe: (*hoister).poolSafe}},
	{"github.com/redis/go-redis/v9", []string{"NewClient", "NewUniversalClient"}, cacheClient},
	{"github.com/go-redis/redis/v8", []string{"NewClient", "NewUniversalClient"}, cacheClient},
	{"github.com/go-redis/redis", []string{"NewClient", "NewUniversalClient"}, cacheClient},
	{"github.com/gomodule/redigo/redis", []string{"Dial", "DialURL"}, cacheClient},
	{"github.com/bradfitz/gomemcache/memcache", []string{"New"}, cacheClient},
}

// cacheClient is a client of a cache: each opens connections of its own.
var cacheClient = maker{what: "a client of a cache is made", suffix: "Client", hint: true}

func (h *hoister) matchCall(c *ast.CallExpr) *maker {
	fn := h.x.callee(c)
	if fn == nil {
		return nil
	}
	for _, m := range makers {
		if !isFunc(fn, m.path, m.names...) {
			continue
		}
		if m.maker.hint || m.path == "database/sql" || m.path == "github.com/jmoiron/sqlx" || h.fixedArgs(c) && len(c.Args) > 0 {
			made := m.maker
			made.hint = made.hint || !h.fixedArgs(c)
			return &made
		}
		return nil
	}
	if m := h.templateMaker(c, fn); m != nil {
		return m
	}
	if isFunc(fn, "encoding/json", "Unmarshal") && len(c.Args) == 2 && h.isConversionOfConstant(c.Args[0]) {
		return &maker{what: "a constant is decoded", hint: true}
	}
	return nil
}

func (h *hoister) isConversionOfConstant(e ast.Expr) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && len(c.Args) == 1 && h.x.pass.TypesInfo.Types[c.Fun].IsType() && h.x.pass.TypesInfo.Types[c.Args[0]].Value != nil
}

// report reports a value that is made for each request, or in a loop.
func (h *hoister) report(e ast.Expr, m *maker) {
	if !h.repeated(e, m) || h.kept(e) {
		return
	}
	p := place{node: e, what: m.what + " each time", how: "make it once", promise: m.promise}
	if m.hint {
		p.how, p.why.why = "make it once, outside of the handler", "its arguments are not constant"
		switch call, ok := e.(*ast.CallExpr); {
		case m.why.at != nil:
			p.why = m.why
		case m.suffix == "":
			p.how, p.why.why = "decode it once, into a package variable", "the code may change the decoded value"
		case ok && h.fixedArgs(call):
			p.why.why = "whether the code closes or changes it is not looked into"
		}
		h.r.report(p)
		return
	}
	if call, ok := e.(*ast.CallExpr); ok && !h.valid(call) || !m.safe(h, e) {
		return
	}
	hoist := h.hoist
	if m.keyed != nil {
		hoist = m.keyed.hoist
	}
	fix, ok := hoist(e, m)
	if !ok {
		return
	}
	if m.promise == Freshness {
		p.how += ": a later version of the file is not seen"
	}
	p.fixes = append(p.fixes, fix)
	h.r.report(p)
}

// repeated reports whether an expression is evaluated for each request, or in a
// loop where the value does not depend on the outside world.
func (h *hoister) repeated(e ast.Expr, m *maker) bool {
	for n := h.x.parent[e]; n != nil; n = h.x.parent[n] {
		switch n := n.(type) {
		case *ast.FuncLit:
			if c, ok := h.x.parent[n].(*ast.CallExpr); ok && isFunc(h.x.callee(c), "sync", "Once.Do", "OnceFunc", "OnceValue", "OnceValues") {
				return false
			}
		case *ast.ForStmt, *ast.RangeStmt:
			if m.promise == NoPromise && !m.hint && enclosing[*ast.FuncDecl](h.x, e) != nil {
				return true
			}
		}
	}
	return h.x.inRequest(e)
}

// kept reports whether the value is stored beyond the function: the code has a
// cache of its own.
func (h *hoister) kept(e ast.Expr) bool {
	a, ok := h.x.parent[e].(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, l := range a.Lhs {
		if id, ok := l.(*ast.Ident); ok && id.Name == "_" {
			continue
		}
		v := h.x.variable(l)
		if v == nil || v.Parent() == h.x.pass.Pkg.Scope() {
			return true
		}
	}
	return false
}

// valid compiles a constant regular expression: an invalid one panics when it is
// reached, and would panic at the start as a package variable.
func (h *hoister) valid(c *ast.CallExpr) bool {
	fn := h.x.callee(c)
	if !isFunc(fn, "regexp", "MustCompile", "MustCompilePOSIX") {
		return !isFunc(fn, "strings", "NewReplacer") || len(c.Args)%2 == 0
	}
	v := h.x.pass.TypesInfo.Types[c.Args[0]].Value
	if v == nil || v.Kind() != constant.String {
		return false
	}
	compile := regexp.Compile
	if fn.Name() == "MustCompilePOSIX" {
		compile = regexp.CompilePOSIX
	}
	_, err := compile(constant.StringVal(v))
	return err == nil
}

// hoist moves the expression to a variable before the declaration.
func (h *hoister) hoist(e ast.Expr, m *maker) (fix analysis.SuggestedFix, ok bool) {
	rw := h.x.rewrite()
	top := h.x.topDecl(e)
	fd, isFn := top.(*ast.FuncDecl)
	if !isFn {
		return fix, false
	}
	name := h.x.fresh(camel(fd.Name.Name, m.suffix))
	var decl string
	switch {
	case (m.pair || m.lazy) && !goAtLeast(h.x.pass, e.Pos(), "go1.21"):
		decl = h.onceByHand(rw, name, e)
		rw.replace(e, name+"()")
	case m.pair:
		decl = fmt.Sprintf("var %s = %s.OnceValues(func() %s {\n\treturn %s\n})", name, rw.pkg(fd.Pos(), "sync"), h.results(e), h.x.text(e))
		rw.replace(e, name+"()")
	case m.lazy:
		decl = fmt.Sprintf("var %s = %s.OnceValue(func() %s {\n\treturn %s\n})", name, rw.pkg(fd.Pos(), "sync"), h.results(e), h.x.text(e))
		rw.replace(e, name+"()")
	default:
		decl = fmt.Sprintf("var %s = %s", name, h.x.text(e))
		h.rename(rw, e, name)
	}
	rw.insert(declStart(fd), decl+"\n\n")
	if isFunc(h.calleeOf(e), "database/sql", "Open") || isFunc(h.calleeOf(e), "github.com/jmoiron/sqlx", "Open", "Connect") {
		rw.removeLines(h.x.parent[h.x.parent[h.closeCall(h.variableOf(e))]])
	}
	return rw.fix("make it once")
}

// onceByHand is sync.OnceValue, or OnceValues of two results, for a module whose Go has none.
func (h *hoister) onceByHand(rw *rewrite, name string, e ast.Expr) string {
	once, value := h.x.fresh(name+"Once"), h.x.fresh(name+"Value")
	vars, set, results := value+" "+h.results(e), value, h.results(e)
	if t, ok := h.x.typeOf(e).(*types.Tuple); ok && t.Len() == 2 {
		second := h.x.fresh(name + "Err")
		first, other, _ := strings.Cut(strings.Trim(results, "()"), ", ")
		vars, set = value+" "+first+"\n\t"+second+" "+other, value+", "+second
	}
	return fmt.Sprintf("var (\n\t%s %s.Once\n\t%s\n)\n\nfunc %s() %s {\n\t%s.Do(func() { %s = %s })\n\treturn %s\n}",
		once, rw.pkg(e.Pos(), "sync"), vars, name, results, once, set, h.x.text(e), set)
}

func (h *hoister) calleeOf(e ast.Expr) *types.Func {
	if c, ok := e.(*ast.CallExpr); ok {
		return h.x.callee(c)
	}
	return nil
}

// rename puts the new name in the place of the expression. A local variable that
// only holds the value is removed.
func (h *hoister) rename(rw *rewrite, e ast.Expr, name string) {
	a, ok := h.x.parent[e].(*ast.AssignStmt)
	v := h.variableOf(e)
	_, inBlock := h.x.parent[a].(*ast.BlockStmt)
	if !ok || v == nil || !inBlock || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(h.x.writes(v)) > 0 || len(h.x.uses[v]) == 0 || !h.aloneOnLines(a) {
		rw.replace(e, name)
		return
	}
	rw.removeLines(a)
	for _, id := range h.x.uses[v] {
		rw.replace(id, name)
	}
}

// aloneOnLines reports whether a statement shares its lines with nothing else.
func (h *hoister) aloneOnLines(s ast.Node) bool {
	f := h.x.pass.Fset.File(s.Pos())
	from, to := f.LineStart(f.Line(s.Pos())), h.x.firstOnLine(f, s.Pos())
	_, end := h.x.lines(s)
	return from <= to && to == s.Pos() && onlySpace(h.x.between(s.End(), end))
}

// variableOf returns the local variable that takes the (first) value of an
// expression, or nil.
func (h *hoister) variableOf(e ast.Expr) *types.Var {
	switch p := h.x.parent[e].(type) {
	case *ast.AssignStmt:
		if len(p.Rhs) == 1 {
			return h.x.variable(p.Lhs[0])
		}
	case *ast.ValueSpec:
		if len(p.Values) == 1 {
			return h.x.variable(p.Names[0])
		}
	}
	return nil
}

// results is the result list of a function that returns the expression.
func (h *hoister) results(e ast.Expr) string {
	f := h.x.fileOf(e.Pos())
	qualify := func(p *types.Package) string {
		if p == h.x.pass.Pkg {
			return ""
		}
		for _, spec := range f.Imports {
			if spec.Path.Value == fmt.Sprintf("%q", p.Path()) {
				return h.x.importName(spec)
			}
		}
		return p.Name()
	}
	return types.TypeString(h.x.typeOf(e), qualify)
}
