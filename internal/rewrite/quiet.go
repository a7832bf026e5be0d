package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// quietPackages compute and have no effect outside of their arguments, so that it
// does not matter whether a statement runs before or after them.
var quietPackages = []string{"bytes", "cmp", "errors", "fmt", "hash", "html", "maps", "math", "path", "regexp", "slices", "sort",
	"strconv", "strings", "text/template", "time", "unicode", "net/url", "net/netip", "path/filepath",
	"github.com/google/uuid", "github.com/oklog/ulid", "github.com/rs/xid", "github.com/shopspring/decimal"}

var quietTrees = []string{"crypto/", "encoding/", "hash/", "math/", "unicode/", "github.com/oklog/ulid/", "github.com/gofrs/uuid"}

// loudFunctions are functions of quiet packages that do I/O or wait.
var loudFunctions = []string{"Sleep", "Print", "Printf", "Println", "Fprint", "Fprintf", "Fprintln", "Scan", "Scanf", "Scanln", "After", "AfterFunc", "Tick",
	"NewTimer", "NewTicker", "Encode", "Decode", "Walk", "WalkDir", "Glob", "EvalSymlinks"}

// A quietness decides whether code has an effect that a database statement could
// see, or sees one.
type quietness struct {
	pass  *analysis.Pass
	calls *sqlcall.Result
	known map[*types.Func]bool
}

// quiet reports whether a node only computes: it sends no statement, and calls
// nothing that might. Writes to variables are quiet.
func (q *quietness) quiet(n ast.Node) bool { return q.quietBut(n, nil) }

// quietBut does so without some blocks of the node.
func (q *quietness) quietBut(n ast.Node, without []*ast.BlockStmt) bool {
	ok := true
	ast.Inspect(n, func(n ast.Node) bool {
		if b, isBlock := n.(*ast.BlockStmt); isBlock && slices.Contains(without, b) {
			return false
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			ok = ok && q.quietCall(n)
		case *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt, *ast.FuncLit, *ast.LabeledStmt:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.BranchStmt:
			ok = ok && n.Tok != token.GOTO && n.Label == nil
		}
		return ok
	})
	return ok
}

func (q *quietness) quietCall(call *ast.CallExpr) bool {
	if q.pass.TypesInfo.Types[call.Fun].IsType() {
		return true // a conversion
	}
	switch f := typeutil.Callee(q.pass.TypesInfo, call).(type) {
	case *types.Builtin:
		return f.Name() != "panic" && f.Name() != "print" && f.Name() != "println"
	case *types.Func:
		return q.quietFunc(f)
	}
	return false
}

func (q *quietness) quietFunc(f *types.Func) bool {
	if f.Pkg() == nil {
		return f.Name() == "Error"
	}
	if asksRequest(f) {
		return true
	}
	if recv := f.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return f.Name() == "Error" || f.Name() == "String" && f.Pkg().Path() == "fmt"
	}
	if f.Pkg() != q.pass.Pkg {
		p := f.Pkg().Path()
		return !slices.Contains(loudFunctions, f.Name()) &&
			(slices.Contains(quietPackages, p) || slices.ContainsFunc(quietTrees, func(t string) bool { return strings.HasPrefix(p, t) }))
	}
	if known, ok := q.known[f]; ok {
		return known
	}
	decl := q.calls.Decl(f)
	if decl == nil || decl.Body == nil {
		return false
	}
	if q.known == nil {
		q.known = map[*types.Func]bool{}
	}
	q.known[f] = true // of a recursion, the other calls decide
	q.known[f] = q.quiet(decl.Body) && q.ownVariables(decl)
	return q.known[f]
}

// requestReaders are the functions and methods by which a handler asks its request for a
// value, by package: the same each time.
var requestReaders = map[string][]string{
	"net/http":                    {"FormValue", "PostFormValue", "PathValue"},
	"github.com/go-chi/chi":       {"URLParam"},
	"github.com/go-chi/chi/v5":    {"URLParam"},
	"github.com/labstack/echo":    {"Param", "QueryParam", "FormValue"},
	"github.com/labstack/echo/v4": {"Param", "QueryParam", "FormValue"},
	"github.com/labstack/echo/v5": {"Param", "QueryParam", "FormValue"},
	"github.com/gin-gonic/gin":    {"Param", "Query", "DefaultQuery", "PostForm", "DefaultPostForm"},
}

// asksRequest reports whether a function asks a request for a value.
func asksRequest(f *types.Func) bool {
	if !slices.Contains(requestReaders[f.Pkg().Path()], f.Name()) {
		return false
	}
	recv := f.Signature().Recv()
	return recv == nil || receiverName(recv.Type()) == "Request" || receiverName(recv.Type()) == "Context"
}

// ownVariables reports whether a function sets no package variable.
func (q *quietness) ownVariables(decl *ast.FuncDecl) bool {
	ok := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		var set []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			set = n.Lhs
		case *ast.IncDecStmt:
			set = []ast.Expr{n.X}
		}
		for _, l := range set {
			if v, isVar := q.pass.TypesInfo.ObjectOf(rootIdent(l)).(*types.Var); isVar && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				ok = false
			}
		}
		return ok
	})
	return ok
}

// rootIdent is the identifier at the beginning of a chain of selectors, indexes
// and dereferences; nil for others.
func rootIdent(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
