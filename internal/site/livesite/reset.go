package livesite

import (
	"context"
	"fmt"
	"os"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Prepare returns what makes the site's data anew before a run; nil where the
// benchmarker does it.
func (s *Subject) Prepare() func(ctx context.Context) error {
	switch r := s.File().Bench.Reset; r.How {
	case target.ResetCommand:
		return func(ctx context.Context) error {
			return s.shell(ctx, s.hosts[""], host.Command{Env: os.Environ(), Dir: s.dir()}, r.Command)
		}
	case target.ResetSnapshot:
		return s.resetAll
	}
	return nil
}

// resetAll puts the snapshots of all databases back, and restarts the apps whose
// connections and caches are of the data before.
func (s *Subject) resetAll(ctx context.Context) error {
	all, err := s.snapshots(ctx)
	if err != nil {
		return err
	}
	for _, n := range all {
		if err := n.reset(ctx); err != nil {
			return fmt.Errorf("resetting the data of service %s: %w", n.r.Name, err)
		}
	}
	return nil
}
