package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// withoutText removes the local variable that only holds the text of a call, which a
// rewrite replaces: Go refuses a variable that is not used. ok is false if something
// would be left without a use that cannot be removed.
func withoutText(pass *analysis.Pass, calls *sqlcall.Result, source *sourceText, c *sqlcall.Call) (edits []analysis.TextEdit, ok bool) {
	id, isIdent := ast.Unparen(c.QueryArg).(*ast.Ident)
	if !isIdent {
		return nil, !leavesUnused(pass, calls, c.QueryArg)
	}
	v, isVar := pass.TypesInfo.ObjectOf(id).(*types.Var)
	if !isVar || v.Parent() == pass.Pkg.Scope() || calls.Uses[v] > 1 || isParameter(pass, v) {
		return nil, true
	}
	for cur := range rootOf(pass).Preorder((*ast.AssignStmt)(nil)) {
		a := cur.Node().(*ast.AssignStmt)
		if a.Tok != token.DEFINE || len(a.Lhs) != 1 || pass.TypesInfo.Defs[identOf(a.Lhs[0])] != v {
			continue
		}
		from, to, alone := source.wholeLines(a.Pos(), a.End())
		if !alone || leavesUnused(pass, calls, a.Rhs[0]) {
			return nil, false
		}
		return []analysis.TextEdit{{Pos: from, End: to}}, true
	}
	return nil, false
}

func identOf(e ast.Expr) *ast.Ident {
	id, _ := e.(*ast.Ident)
	return id
}

// isParameter reports whether a variable is a parameter or a result of a function.
func isParameter(pass *analysis.Pass, v *types.Var) bool {
	for cur := range rootOf(pass).Preorder((*ast.Field)(nil)) {
		for _, name := range cur.Node().(*ast.Field).Names {
			if pass.TypesInfo.Defs[name] == v {
				return true
			}
		}
	}
	return false
}

// leavesUnused reports whether an expression has the only use of a local variable or
// of an imported package: without it, Go refuses the file.
func leavesUnused(pass *analysis.Pass, calls *sqlcall.Result, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch obj := pass.TypesInfo.Uses[id].(type) {
		case *types.PkgName:
			found = found || calls.Uses[obj] == 1
		case *types.Var:
			found = found || !obj.IsField() && obj.Parent() != pass.Pkg.Scope() && calls.Uses[obj] == 1 && !isParameter(pass, obj)
		}
		return true
	})
	return found
}

// wholeLines are the lines from one position to another; alone is false if they hold
// more than that.
func (s *sourceText) wholeLines(from, to token.Pos) (start, end token.Pos, alone bool) {
	f := s.pass.Fset.File(from)
	start, end = f.LineStart(f.Line(from)), token.Pos(f.Base()+f.Size())
	if line := f.Line(to); line < f.LineCount() {
		end = f.LineStart(line + 1)
	}
	return start, end, strings.TrimSpace(s.text(start, from)) == "" && strings.TrimSpace(s.text(to, end)) == ""
}
