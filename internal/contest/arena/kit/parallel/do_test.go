package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestDo(t *testing.T) {
	var calls atomic.Int64
	err := Do(t.Context(), 5, func(context.Context, int) error { calls.Add(1); return nil })
	if err != nil || calls.Load() != 5 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	if err := Do(t.Context(), 0, nil); err != nil {
		t.Errorf("without a call: %v", err)
	}
	// Call 3 fails; all other calls wait until they are cancelled.
	broken := errors.New("broken")
	err = Do(t.Context(), 5, func(ctx context.Context, i int) error {
		if i == 3 {
			return broken
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if err != broken {
		t.Errorf("got %v, want the first error", err)
	}
}
