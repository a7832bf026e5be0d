// Package prechecks is the frame of an arena's checks before the load.
package prechecks

import (
	"context"
	"errors"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Run initializes the target, then checks its answers. Checks that do not end within the
// limit are a fault of the check checks-timeout; a limit of 0 is none. The phase is set first,
// so that a run whose initialize fails names it.
func Run(ctx context.Context, s scenario.Session, limit time.Duration,
	initialize, check func(ctx context.Context) error) error {
	s.Phase(scenario.Initialize)
	if err := initialize(ctx); err != nil {
		return err
	}
	s.Phase(scenario.Prepare)
	if limit == 0 {
		return check(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := check(limited)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return scenario.Wrong(nil, "checks-timeout", "the checks did not end within %v", limit)
	}
	return err
}
