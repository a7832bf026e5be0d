package scenario

import (
	"context"
	"time"
)

// Sleep waits for d. It returns false when ctx ended first. Use it for think
// times; use Session.Every for arrivals that must be on time.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
