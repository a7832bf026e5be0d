package scenario

import (
	"context"
	"sync"
	"time"
)

// Parallel calls do(0) … do(n−1) concurrently, as a browser fetches the images of
// a page. The Client's MaxConns limits the requests in flight. Parallel waits for
// all calls and returns the error of the lowest index. It re-raises a panic of a
// call in the caller, where the engine turns it into a fault.
func Parallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	panics := make([]any, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			defer func() { panics[i] = recover() }()
			errs[i] = do(i)
		})
	}
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

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
