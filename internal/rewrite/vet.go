package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp"
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
		for _, path := range goapp.MissingImports(f, e.NewText) {
			if needed[f] == nil {
				needed[f] = map[string]bool{}
			}
			needed[f][path] = true
		}
	}
	for f, paths := range needed {
		var b strings.Builder
		for _, p := range slices.Sorted(maps.Keys(paths)) {
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
