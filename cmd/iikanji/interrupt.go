package main

import "context"

// orInterrupted returns the result of f, or ctx's error as soon as ctx is done. A
// read of a pipe or a terminal cannot be cancelled: f then goes on in the
// background until the process ends. So f must have no effect but its result.
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
