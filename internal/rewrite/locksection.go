package rewrite

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcall"
)

// A lockSection is what code does while it holds a lock file.
type lockSection struct {
	still quietness
	calls *sqlcall.Result
	pools *pools

	opaque  bool            // a part of it is not known
	units   int             // writes and transactions on SQLite files; 2 stands for several
	writes  map[string]bool // tables of SQLite files
	reads   []read          // SELECTs from SQLite files
	serves  bool            // it writes to a server
	sets    map[types.Object]bool
	uses    map[types.Object]bool
	entered map[*ast.FuncDecl]int // 1: followed as called once, 2: as called several times
}

// A read is a SELECT; again means that it may run several times.
type read struct {
	call  *sqlcall.Call
	again bool
}

func newLockSection(calls *sqlcall.Result, still quietness, pools *pools) *lockSection {
	return &lockSection{still: still, calls: calls, pools: pools, writes: map[string]bool{}, sets: map[types.Object]bool{}, uses: map[types.Object]bool{}, entered: map[*ast.FuncDecl]int{}}
}

// walk notes what a node does; again means that it may run several times.
func (s *lockSection) walk(root ast.Node, again bool) {
	var loops []ast.Node
	repeated := func(n ast.Node) bool {
		return again || slices.ContainsFunc(loops, func(l ast.Node) bool { return l.Pos() <= n.Pos() && n.End() <= l.End() })
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			loops = append(loops, n)
		case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt:
			s.opaque = true
		case *ast.UnaryExpr:
			s.opaque = s.opaque || n.Op == token.ARROW
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				s.set(l)
			}
		case *ast.IncDecStmt:
			s.set(n.X)
		case *ast.Ident:
			if v, ok := s.still.pass.TypesInfo.Uses[n].(*types.Var); ok {
				s.uses[v] = true
			}
		case *ast.CallExpr:
			s.call(n, repeated(n))
		}
		return !s.opaque
	})
}

// set notes a variable or a field that other requests may see.
func (s *lockSection) set(e ast.Expr) {
	info := s.still.pass.TypesInfo
	id := rootIdent(e)
	if id == nil {
		s.opaque = true
		return
	}
	v, ok := info.ObjectOf(id).(*types.Var)
	if !ok {
		s.opaque = s.opaque || id.Name != "_"
		return
	}
	local := !v.IsField() && v.Parent() != s.still.pass.Pkg.Scope()
	if _, plain := e.(*ast.Ident); local && (plain || s.own(v)) {
		return
	}
	switch e := e.(type) {
	case *ast.Ident:
		s.sets[v] = true
	case *ast.SelectorExpr:
		s.sets[info.ObjectOf(e.Sel)] = true
	case *ast.IndexExpr:
		if obj := s.pools.object(e.X); obj != nil {
			s.sets[obj] = true
			return
		}
		s.opaque = true
	case *ast.StarExpr:
		s.opaque = s.opaque || !s.getsOwn(v)
	default:
		s.opaque = true
	}
}

// getsOwn reports whether a variable is a parameter of a function literal that gets
// addresses of local variables only: f := func(to *T) { … }, and f(&x).
func (s *lockSection) getsOwn(v *types.Var) bool {
	pass := s.still.pass
	path, _ := astutil.PathEnclosingInterval(fileOf(pass, v.Pos()), v.Pos(), v.Pos())
	at := slices.IndexFunc(path, func(n ast.Node) bool { _, lit := n.(*ast.FuncLit); return lit })
	if at < 0 || at+1 >= len(path) {
		return false
	}
	a, ok := path[at+1].(*ast.AssignStmt)
	sig, isSig := pass.TypesInfo.TypeOf(path[at].(*ast.FuncLit)).(*types.Signature)
	if !ok || !isSig || a.Tok != token.DEFINE || len(a.Lhs) != 1 || sig.Variadic() {
		return false
	}
	i := 0
	for i < sig.Params().Len() && sig.Params().At(i) != v {
		i++
	}
	f, isIdent := a.Lhs[0].(*ast.Ident)
	if !isIdent || i == sig.Params().Len() || len(s.pools.set[pass.TypesInfo.Defs[f]]) != 1 {
		return false
	}
	for _, use := range usesOf(pass, pass.TypesInfo.Defs[f]) {
		call, isCall := use.Parent().Node().(*ast.CallExpr)
		if !isCall || call.Fun != use.Node() || i >= len(call.Args) {
			return false
		}
		u, isAddress := call.Args[i].(*ast.UnaryExpr)
		if !isAddress || u.Op != token.AND || localVar(pass.TypesInfo, u) == nil {
			return false
		}
	}
	return true
}

// own reports whether a variable of a function refers to nothing that other requests
// see: a struct, or what was made for the variable.
func (s *lockSection) own(v *types.Var) bool {
	if _, isStruct := v.Type().Underlying().(*types.Struct); isStruct {
		return true
	}
	sources := s.pools.set[v]
	if _, param := s.pools.params[v]; param || s.pools.other[v] || len(sources) == 0 {
		return false
	}
	return !slices.ContainsFunc(sources, func(e ast.Expr) bool {
		switch e := ast.Unparen(e).(type) {
		case *ast.CompositeLit:
			return false
		case *ast.CallExpr:
			return !isBuiltin(s.still.pass.TypesInfo, e, "make") && !isBuiltin(s.still.pass.TypesInfo, e, "new") && !isBuiltin(s.still.pass.TypesInfo, e, "append")
		}
		return true
	})
}

// answering are packages whose functions serve one request, or make errors.
var answering = []string{"github.com/labstack/echo/v4", "net/http", "github.com/gin-gonic/gin"}

func (s *lockSection) call(n *ast.CallExpr, again bool) {
	if c := s.calls.At(n); c != nil {
		s.statement(c, again)
		return
	}
	if pool := begun(s.still.pass, n); pool != nil {
		s.opaque = s.opaque || s.pools.of(pool) != filePool
		s.unit(again)
		return
	}
	if s.still.quietCall(n) || s.prints(n) {
		return
	}
	switch fn := typeutil.Callee(s.still.pass.TypesInfo, n).(type) {
	case *types.Func:
		s.function(fn, again)
	case *types.Var: // a function literal, which is read where it is declared
		s.opaque = s.opaque || s.pools.other[fn] || len(s.pools.set[fn]) == 0 || slices.ContainsFunc(s.pools.set[fn], func(e ast.Expr) bool {
			_, lit := e.(*ast.FuncLit)
			return !lit
		})
	default:
		s.opaque = true
	}
}

// prints reports whether a call formats into a buffer that is a local variable.
func (s *lockSection) prints(n *ast.CallExpr) bool {
	fn, _ := typeutil.Callee(s.still.pass.TypesInfo, n).(*types.Func)
	if !isFunc(fn, "fmt", "Fprint", "Fprintf", "Fprintln") || len(n.Args) == 0 {
		return false
	}
	v := localVar(s.still.pass.TypesInfo, n.Args[0])
	if v == nil {
		return false
	}
	named, isNamed := types.Unalias(v.Type()).(*types.Named)
	return isNamed && (named.String() == "strings.Builder" || named.String() == "bytes.Buffer")
}

// function notes what a function does that computes not only.
func (s *lockSection) function(fn *types.Func, again bool) {
	if fn.Pkg() == nil {
		s.opaque = true
		return
	}
	if decl := s.calls.Decl(fn); decl != nil && decl.Body != nil {
		times := 1
		if again || s.entered[decl] > 0 { // a second call is as a loop
			times = 2
		}
		if s.entered[decl] < times {
			s.entered[decl] = times
			s.walk(decl.Body, times > 1)
		}
		return
	}
	path, known := fn.Pkg().Path(), false
	switch recv := fn.Signature().Recv(); {
	case path == "sync" || slices.Contains(answering, path):
		known = true
	case recv != nil && (path == "database/sql" || path == "github.com/jmoiron/sqlx"):
		named := namedOf(recv.Type())
		known = named != nil && (slices.Contains([]string{"Result", "Row", "Rows"}, named.Obj().Name()) || named.Obj().Name() == "Tx" && (fn.Name() == "Commit" || fn.Name() == "Rollback"))
	}
	s.opaque = s.opaque || !known
}

func (s *lockSection) unit(again bool) {
	s.units++
	if again {
		s.units++
	}
}

// statement notes one statement.
func (s *lockSection) statement(c *sqlcall.Call, again bool) {
	engine := s.pools.of(c.Handle.Expr)
	switch {
	case engine == serverPool && c.Op != sqlcall.Prepare:
		s.serves = s.serves || c.Op == sqlcall.Exec
		return
	case engine != filePool || c.Op == sqlcall.Prepare || c.Text == nil && !s.collected(c):
		s.opaque = true
		return
	}
	if c.Op != sqlcall.Exec {
		s.reads = append(s.reads, read{c, again})
		return
	}
	table := writtenTable(c.SQL())
	if s.writes[table] = true; table == "" {
		s.opaque = true
	}
	if c.Handle.Kind != sqlcall.Tx {
		s.unit(again)
	}
}

// collected reports whether a query has a text that is written piece by piece into a
// local buffer, by constant texts and formats without a word that writes.
func (s *lockSection) collected(c *sqlcall.Call) bool {
	info := s.still.pass.TypesInfo
	call, ok := ast.Unparen(c.QueryArg).(*ast.CallExpr)
	if !ok || c.Op == sqlcall.Exec || len(call.Args) > 0 {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "String" {
		return false
	}
	v := localVar(info, sel.X)
	if v == nil || types.Unalias(v.Type()).String() != "strings.Builder" || len(s.pools.set[v]) > 0 {
		return false
	}
	for _, use := range usesOf(s.still.pass, v) {
		var piece ast.Expr
		switch p := use.Parent().Node().(type) {
		case *ast.SelectorExpr: // v.WriteString(text), v.String()
			write, isCall := use.Parent().Parent().Node().(*ast.CallExpr)
			if isCall && p.Sel.Name == "String" {
				continue
			}
			if !isCall || p.Sel.Name != "WriteString" {
				return false
			}
			piece = write.Args[0]
		case *ast.UnaryExpr: // fmt.Fprintf(&v, format, …)
			print, isCall := use.Parent().Parent().Node().(*ast.CallExpr)
			if !isCall || len(print.Args) < 2 || !s.prints(print) || !s.numbers(print.Args[2:]) {
				return false
			}
			piece = print.Args[1]
		default:
			return false
		}
		text := info.Types[piece].Value
		if text == nil || text.Kind() != constant.String || writing.MatchString(constant.StringVal(text)) {
			return false
		}
	}
	return true
}

// writing matches a word of a statement that does more than read.
var writing = regexp.MustCompile(`(?i)\b(insert|update|delete|replace|pragma|attach|detach|create|drop|alter|vacuum|reindex)\b`)

// numbers reports whether all expressions are numbers.
func (s *lockSection) numbers(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool {
		b, ok := s.still.pass.TypesInfo.TypeOf(e).Underlying().(*types.Basic)
		return !ok || b.Info()&types.IsNumeric == 0
	})
}

// writtenTable is the table that a statement changes, "" if it is not known.
func writtenTable(sql string) string {
	tokens, ok := sqltext.Unknown.Tokens(sql)
	if !ok || len(tokens) < 3 {
		return ""
	}
	at := 1
	if !tokens[0].Is("UPDATE") {
		if at = sqltext.Find(tokens, 0, "INTO", "FROM"); at < 0 || at > 3 {
			return ""
		}
		at++
	}
	if at >= len(tokens) || tokens[at].Kind != sqltext.Word && tokens[at].Kind != sqltext.Quoted || tokens[at].Is("OR") {
		return ""
	}
	return strings.ToLower(tokens[at].Name())
}

// touches reports whether a statement may read one of some tables. A part that is built
// at run time may do so, except for one in parentheses, as the marks of IN (…).
func touches(c *sqlcall.Call, tables map[string]bool) bool {
	tokens, ok := sqltext.Unknown.Tokens(c.SQL())
	return !ok || c.Text == nil || slices.ContainsFunc(tokens, func(t sqltext.Token) bool {
		return tables[strings.ToLower(t.Name())] || t.Depth == 0 && strings.Contains(t.Text, sqlcall.Hole)
	})
}
