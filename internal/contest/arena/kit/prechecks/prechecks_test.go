package prechecks

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// phases records the phases of a session.
type phases struct {
	scenario.Session
	seen []scenario.Phase
}

func (p *phases) Phase(name scenario.Phase) { p.seen = append(p.seen, name) }

// TestRun: the errors of both parts come back, and the end of the limit is a fault of its
// own unless the run itself was ended.
func TestChecks(t *testing.T) {
	broken := errors.New("broken")
	ok := func(context.Context) error { return nil }
	fail := func(context.Context) error { return broken }
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		limit             time.Duration
		initialize, check func(context.Context) error
		want              error
		phases            int
	}{
		"right":       {time.Minute, ok, ok, nil, 2},
		"without":     {0, ok, fail, broken, 2},
		"initialize":  {time.Minute, fail, ok, broken, 1},
		"wrong check": {time.Minute, ok, fail, broken, 2},
	} {
		s := new(phases)
		err := Run(t.Context(), s, c.limit, c.initialize, c.check)
		want := []scenario.Phase{scenario.Initialize, scenario.Prepare}[:c.phases]
		if err != c.want || !slices.Equal(s.seen, want) {
			t.Errorf("%s: %v in %v, want %v in %v", name, err, s.seen, c.want, want)
		}
	}
	var f *scenario.Fault
	if err := Run(t.Context(), new(phases), time.Millisecond, ok, hang); !errors.As(err, &f) || f.Check != "checks-timeout" {
		t.Errorf("a check that hangs: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ended, new(phases), time.Minute, ok, hang); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was ended: %v", err)
	}
}
