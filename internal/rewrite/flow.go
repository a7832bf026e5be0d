package rewrite

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// callsOf is the result of the finder of SQL calls.
func callsOf(pass *analysis.Pass) *sqlcall.Result {
	return pass.ResultOf[sqlcall.Analyzer].(*sqlcall.Result)
}

func rootOf(pass *analysis.Pass) inspector.Cursor {
	return pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
}

// localVar is the local variable that an expression names, or whose address it
// takes; nil for others.
func localVar(info *types.Info, e ast.Expr) *types.Var {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := info.ObjectOf(id).(*types.Var)
	if !ok || v.IsField() || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() {
		return nil
	}
	return v
}

// usesOf returns the identifiers that name an object, its declaration not among
// them.
func usesOf(pass *analysis.Pass, obj types.Object) (out []inspector.Cursor) {
	for c := range rootOf(pass).Preorder((*ast.Ident)(nil)) {
		if pass.TypesInfo.Uses[c.Node().(*ast.Ident)] == obj {
			out = append(out, c)
		}
	}
	return out
}

// above is the parent of a cursor without parentheses.
func above(c inspector.Cursor) inspector.Cursor {
	p := c.Parent()
	for {
		if _, ok := p.Node().(*ast.ParenExpr); !ok {
			return p
		}
		p = p.Parent()
	}
}

// isBuiltin reports whether a call is of a builtin function.
func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = info.Uses[id].(*types.Builtin)
	return ok
}

// intConstant is the value of a constant integer expression.
func intConstant(info *types.Info, e ast.Expr) (int64, bool) {
	v := info.Types[e].Value
	if v == nil || v.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(v)
}

// comparesWithZero reports whether a comparison only asks whether a count is zero:
// x == 0, x != 0, x > 0, x < 1, x >= 1, x <= 0 and their mirrors.
func comparesWithZero(info *types.Info, b *ast.BinaryExpr, x ast.Expr) bool {
	op, other := b.Op, b.Y
	if ast.Unparen(b.Y) == x {
		other = b.X
		op = map[token.Token]token.Token{token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ,
			token.EQL: token.EQL, token.NEQ: token.NEQ}[op]
	}
	n, ok := intConstant(info, other)
	switch op {
	case token.EQL, token.NEQ, token.GTR, token.LEQ:
		return ok && n == 0
	case token.LSS, token.GEQ:
		return ok && n == 1
	}
	return false
}

// assignedTo is the variable that takes result i of a call: x, err := call(). nil
// if there is none.
func assignedTo(pass *analysis.Pass, c *sqlcall.Call, i int) *types.Var {
	a, ok := above(c.Cursor).Node().(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || i >= len(a.Lhs) {
		return nil
	}
	return localVar(pass.TypesInfo, a.Lhs[i])
}

// fileOf is the file that has a position.
func fileOf(pass *analysis.Pass, pos token.Pos) *ast.File {
	for _, f := range pass.Files {
		if f.FileStart <= pos && pos <= f.FileEnd {
			return f
		}
	}
	return nil
}

// skipped reports whether code at a position is no work for a lever: generated, of a test, or
// of a migration, which runs once for each version of a schema.
func skipped(pass *analysis.Pass, pos token.Pos) bool {
	f := fileOf(pass, pos)
	if f == nil || ast.IsGenerated(f) {
		return true
	}
	name := pass.Fset.PositionFor(pos, false).Filename
	return strings.HasSuffix(name, "_test.go") || ofMigration(pass.Pkg.Name(), name)
}

// ofSeries is the name of a file that is one of a series: v31.go, 20240102150405.go, 0003_users.go.
var ofSeries = regexp.MustCompile(`^(v|m|migration_?)?[0-9][0-9._]*([_-]\w+)?\.go$`)

// ofMigration reports whether a file has a migration: it is one of a series, in a package of
// migrations by its name or folder. What an app imports from elsewhere while it serves may be
// called a migration, too, and has no number.
func ofMigration(pkg, file string) bool {
	return ofSeries.MatchString(filepath.Base(file)) && (strings.Contains(pkg, "migrat") || strings.Contains(filepath.Base(filepath.Dir(file)), "migrat"))
}

// leftAlone reports whether a lever reports nothing about a call: in generated code and
// in tests, and where a type of the app may take the statement.
func leftAlone(pass *analysis.Pass, c *sqlcall.Call) bool {
	return c.Handle.Faked || skipped(pass, c.Pos())
}

// throughSqlx reports whether a call with a destination is one of sqlx, or of an
// interface that only handles of sqlx implement.
func throughSqlx(c *sqlcall.Call) bool {
	return c.Callee.Pkg().Path() == "github.com/jmoiron/sqlx" || c.Handle.Real
}

// suggested is a fix with one title.
func suggested(title string, edits []analysis.TextEdit) []analysis.SuggestedFix {
	return []analysis.SuggestedFix{{Message: title, TextEdits: edits}}
}

// mentions reports whether a node names an object.
func (r *reporter) mentions(n ast.Node, obj types.Object) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && r.pass.TypesInfo.ObjectOf(id) == obj
		return !found
	})
	return found
}
