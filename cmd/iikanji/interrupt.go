package main

import "context"

// orInterrupted returns what f does, or ctx's error as soon as ctx is done. A
// read of a pipe or a terminal cannot be called back: f is left behind then,
// and ends with the process, so it must change nothing but what it returns.
func orInterrupted[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
