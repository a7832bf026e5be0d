// Package parallel runs the checks of an arena side by side.
package parallel

import (
	"context"
	"sync"
)

// Do runs n calls concurrently and waits for all of them. The first error cancels
// the context of the other calls, and Do returns it.
func Do(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for i := range n {
		wg.Go(func() {
			if err := do(ctx, i); err != nil {
				once.Do(func() { first = err; cancel() })
			}
		})
	}
	wg.Wait()
	return first
}
