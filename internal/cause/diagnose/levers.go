package diagnose

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/rewrite"
)

// Levers are the rewrites as the rules need them: package rewrite declares them without
// the words of findings.
func Levers() []cause.Lever {
	var out []cause.Lever
	for _, l := range rewrite.All() {
		of := iikanji.OfCPU
		if l.Of == rewrite.OfStatements {
			of = iikanji.OfStatements
		}
		relieves := cause.AnyLimit
		if l.Holds {
			relieves = cause.Locks | cause.Pool
		}
		out = append(out, cause.Lever{
			Cause: cause.Cause{Code: iikanji.Code(l.Code), Title: l.Title, Line: l.Line, Of: of, Inside: true, Relieves: relieves,
				Remedies: []cause.Way{cause.Plan("gocode", "", iikanji.RoleApp), cause.Patch}},
			Order: l.Order, Saved: iikanji.Range{Lo: l.Saved.Lo, Hi: l.Saved.Hi},
			OneRow: l.OneRow, Whole: l.Whole, Ahead: l.Ahead,
		})
	}
	return out
}
