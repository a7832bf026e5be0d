package stack

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"
)

// TestUse asserts that do continues when a service is killed on purpose, that it
// ends with the reason when a service dies by itself, and that nothing is left.
func TestUse(t *testing.T) {
	dir := shared(t)
	onPurpose := true
	asked, answered := make(chan struct{}), make(chan struct{})
	o := Options{Dir: dir, Tolerate: func(died error) bool {
		var d *DiedError
		if !errors.As(died, &d) || d.Service != app {
			t.Errorf("asked of %v, want the app's death", died)
		}
		asked <- struct{}{}
		defer func() { answered <- struct{}{} }()
		return onPurpose
	}}
	within := func(what string, c <-chan struct{}) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Fatalf("%s: not within a minute", what)
		}
	}
	kill := func(s *Stack) {
		t.Helper()
		must(t, syscall.Kill(s.Groups()[app][0], syscall.SIGKILL))
		within("a death is noticed", asked)
		within("it is answered", answered)
	}
	err := Use(t.Context(), tiny(), o, func(ctx context.Context, s *Stack) error {
		kill(s)
		must(t, s.Restart(ctx, app))
		if err := context.Cause(ctx); err != nil {
			t.Errorf("killed on purpose: %v", err)
		}
		onPurpose = false
		kill(s)
		within("the end", ctx.Done())
		return context.Cause(ctx)
	})
	var died *DiedError
	if !errors.As(err, &died) || died.Service != app {
		t.Errorf("error: %v, want that the app died", err)
	}
	nothingRuns(t, dir)
	if err := Use(t.Context(), tiny(), Options{Dir: dir, Path: t.TempDir()}, nil); err == nil {
		t.Error("it came up without programs")
	}
}
