package live

import (
	"context"

	"github.com/iikanji/iikanji/internal/target"
)

// Prepare returns what makes the site's data anew before a run; nil where the
// benchmarker does it.
func (s *Subject) Prepare() func(ctx context.Context) error {
	switch r := s.options.File.Bench.Reset; r.How {
	case target.ResetCommand:
		return func(ctx context.Context) error { return s.command(ctx, r.Command) }
	}
	return nil
}
