package rewrite

import (
	"cmp"
	"context"
	"slices"
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
// order of the source, and the loops that send them. Packages with type errors are problems.
func Statements(ctx context.Context, dir string, patterns []string) (*Result, error) {
	return Run(ctx, dir, patterns, Facts{}, []*Lever{})
}

func sortStatements(list []Statement) {
	slices.SortStableFunc(list, func(a, b Statement) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
}
