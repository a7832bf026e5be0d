package scenario

import (
	"context"
	"sync"
	"time"
)

// Parallel calls do(0) … do(n−1) all at once, as a browser fetches the images
// of a page: the Client's MaxConns bounds what is on the wire. It returns when
// all have returned, with the error of the lowest index. A panic in one is
// raised again in the caller, where the engine makes it a fault.
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

// Sleep waits; false when ctx ended first. It is for think times: arrivals
// that must be on time are for Session.Every.
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
