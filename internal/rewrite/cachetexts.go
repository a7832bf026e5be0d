package rewrite

import (
	"go/ast"
	"go/constant"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// constantStatements are the constant texts of a package that may be whole statements, also
// where no known call sends them: those of a mapper's Raw, of a wrapper, of a table of
// statements. A plan may list a text that nothing sends, or that is only the beginning of
// one: it is compared with what is sent as a whole.
func constantStatements(x *index) (out []Statement) {
	for _, f := range x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			v := x.pass.TypesInfo.Types[e].Value
			if v == nil || v.Kind() != constant.String {
				return true
			}
			if text := constant.StringVal(v); mayBeStatement(text) {
				at := x.pass.Fset.PositionFor(e.Pos(), false)
				out = append(out, Statement{Text: text, File: at.Filename, Line: at.Line, Whole: true})
			}
			return false // its parts are no statements
		})
	}
	return out
}

// mayBeStatement reports whether a text begins as a statement that reads or writes rows.
func mayBeStatement(text string) bool {
	const shortest = 12
	if len(text) < shortest {
		return false
	}
	tokens, ok := sqltext.Unknown.Tokens(text)
	if !ok {
		return false
	}
	for i, t := range tokens {
		switch {
		case t.Kind == sqltext.Space:
			continue
		case t.Is("SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"):
			return len(tokens)-i > 3
		}
		return false
	}
	return false
}
