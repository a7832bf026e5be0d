package rewrite

import (
	"cmp"
	"context"
	"slices"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// A Statement is a SQL text in the source of an application.
type Statement struct {
	Text string `json:"text"`
	File string `json:"file"` // absolute
	Line int    `json:"line"`
	Func string `json:"func,omitempty"` // enclosing function, as of a Hit
	// Whole: no part of the text is computed.
	Whole bool `json:"whole"`
	// Named: the placeholders are names, which sqlx replaces.
	Named bool `json:"named,omitempty"`
}

// Statements lists the texts that the packages of a module folder send, in the
// order of the source, and the loops that send them: also those of constant texts that no
// known call sends, and of chains of mappers. Packages with type errors are problems.
func Statements(ctx context.Context, dir string, patterns []string) (*Result, error) {
	pkgs, err := goapp.Load(ctx, dir, patterns...)
	if err != nil {
		return nil, err
	}
	res, err := runOn(dir, pkgs, Facts{}, []*Lever{})
	if err != nil {
		return nil, err
	}
	graph, _, err := analyse(dir, pkgs, indexAnalyzer)
	if err != nil || graph == nil {
		return res, err
	}
	for _, act := range graph.Roots {
		res.Statements = withMapped(res.Statements, act.Result.(*index))
	}
	sortStatements(res.Statements)
	return res, nil
}

// withMapped adds the constant texts of a package and those of its mappers to a list.
func withMapped(list []Statement, x *index) []Statement {
	for _, s := range append(constantStatements(x), mapperStatements(x)...) {
		if !slices.ContainsFunc(list, func(o Statement) bool { return o.Text == s.Text }) {
			list = append(list, s)
		}
	}
	return list
}

func sortStatements(list []Statement) {
	slices.SortStableFunc(list, func(a, b Statement) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
}
