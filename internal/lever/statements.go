package lever

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"

	"github.com/iikanji/iikanji/internal/lever/sqlcall"
)

// A Statement is a SQL text in the source of an application.
type Statement struct {
	Text string `json:"text"`
	File string `json:"file"` // absolute
	Line int    `json:"line"`
	// Whole: no part of the text is computed.
	Whole bool `json:"whole"`
	// Named: the placeholders are names, which sqlx replaces.
	Named bool `json:"named,omitempty"`
}

// Statements lists the texts that the packages of a module folder send, in the
// order of the source. Packages with type errors are problems.
func Statements(ctx context.Context, dir string, patterns []string) ([]Statement, []Problem, error) {
	pkgs, err := load(ctx, dir, patterns)
	if err != nil {
		return nil, nil, err
	}
	res := &Result{Files: map[string][]byte{}}
	sound := res.survey(pkgs)
	if len(sound) == 0 {
		return nil, res.Problems, nil
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{sqlcall.Analyzer}, sound, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the statements of %s: %w", dir, err)
	}
	var out []Statement
	for _, act := range graph.Roots {
		if act.Err != nil {
			res.Problems = append(res.Problems, Problem{Package: act.Package.PkgPath, Text: act.Err.Error()})
			continue
		}
		for _, c := range act.Result.(*sqlcall.Result).Calls {
			if c.Text == nil {
				continue
			}
			at := act.Package.Fset.PositionFor(c.Expr.Pos(), false)
			out = append(out, Statement{Text: c.Text.SQL, File: at.Filename, Line: at.Line, Whole: c.Text.Holes == 0, Named: c.Named})
		}
	}
	slices.SortStableFunc(out, func(a, b Statement) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return out, res.Problems, nil
}
