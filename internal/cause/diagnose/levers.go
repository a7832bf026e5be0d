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
		of, relieves := iikanji.OfCPU, cause.AnyLimit
		switch l.Of {
		case rewrite.OfStatements:
			of = iikanji.OfStatements
		case rewrite.OfFileLocks: // waits for locks add to the time of statements
			of, relieves = iikanji.OfStatements, cause.AnyLimit&^cause.CPU
		}
		out = append(out, cause.Lever{
			Cause: cause.Cause{Code: iikanji.Code(l.Code), Title: l.Title, Line: l.Line, Of: of, Inside: true, Relieves: relieves,
				Remedies: []cause.Way{cause.Plan("gocode", "", iikanji.RoleApp), cause.Patch}},
			Order: l.Order, Saved: iikanji.Range{Lo: l.Saved.Lo, Hi: l.Saved.Hi},
			FileLocks: l.Of == rewrite.OfFileLocks, OneRow: l.OneRow, Whole: l.Whole,
		})
	}
	return out
}
