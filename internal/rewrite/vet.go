package rewrite

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// WithImports returns an analyzer whose fixes are complete by themselves: they add
// the imports that Apply would add. Drivers of analyzers such as go vet do not.
func WithImports(a *analysis.Analyzer) *analysis.Analyzer {
	whole := *a
	whole.Run = func(pass *analysis.Pass) (any, error) {
		inner := *pass
		inner.Report = func(d analysis.Diagnostic) {
			for i, f := range d.SuggestedFixes {
				d.SuggestedFixes[i].TextEdits = append(f.TextEdits, imports(pass, f.TextEdits)...)
			}
			pass.Report(d)
		}
		return a.Run(&inner)
	}
	return &whole
}

// imports are the edits that add the imports for new code.
func imports(pass *analysis.Pass, edits []analysis.TextEdit) (out []analysis.TextEdit) {
	needed := map[*ast.File]map[string]bool{}
	for _, e := range edits {
		f := fileOf(pass, e.Pos)
		if f == nil {
			continue
		}
		was := qualifiers(f)
		for q := range newQualifiers(e.NewText) {
			if !was[q] && known[q] != "" && !importsPath(f, known[q]) {
				if needed[f] == nil {
					needed[f] = map[string]bool{}
				}
				needed[f][known[q]] = true
			}
		}
	}
	for f, paths := range needed {
		var b strings.Builder
		for _, p := range sortedKeys(paths) {
			fmt.Fprintf(&b, "\nimport %q", p)
		}
		pos := f.Name.End()
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				pos = g.End()
			}
		}
		out = append(out, edit(pos, pos, b.String()))
	}
	return out
}

func importsPath(f *ast.File, p string) bool {
	for _, s := range f.Imports {
		if strings.Trim(s.Path.Value, "\"`") == p {
			return true
		}
	}
	return false
}

// newQualifiers are the identifiers before a dot in a fragment of code.
func newQualifiers(text []byte) map[string]bool {
	out := map[string]bool{}
	for q := range known {
		if bytes.Contains(text, []byte(q+".")) {
			out[q] = true
		}
	}
	if x, err := parser.ParseExpr(string(text)); err == nil && len(out) > 0 {
		exact := map[string]bool{}
		ast.Inspect(x, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := s.X.(*ast.Ident); ok && out[id.Name] {
					exact[id.Name] = true
				}
			}
			return true
		})
		return exact
	}
	return out
}
