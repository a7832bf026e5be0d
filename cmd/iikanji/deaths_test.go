package main

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestTrialDiesUnderLoad tests that a service that dies while a candidate is on trial fails
// that run and runs again in the next one; without a candidate on trial, a death
// ends the search.
func TestTrialDiesUnderLoad(t *testing.T) {
	tier.Slow(t)
	err := onField(t, func(ctx context.Context, w *liveTarget, f *field.Field) error {
		kill := func(service string) {
			done := false
			f.Progress = func(p bench.Progress) {
				if p.Phase == string(scenario.Load) && !done {
					done = true
					if err := syscall.Kill(stackOf(w).Groups()[service][0], syscall.SIGKILL); err != nil {
						t.Error(err)
					}
				}
			}
		}
		for _, service := range []string{"app", "database"} {
			kill(service)
			run, _, err := f.Bench(ctx, load.Spec{Load: deathLoad, Trial: true})
			if err != nil {
				t.Fatalf("%s died on trial: %v", service, err)
			}
			if why := strings.Join(run.Reasons, "; "); run.Outcome != iikanji.Failed || run.Score != 0 || !strings.Contains(why, service) || !strings.Contains(why, "while it ran") {
				t.Errorf("%s died on trial: %s, score %v: %s", service, run.Outcome, run.Score, why)
			}
			f.Progress = nil
			run, _, err = f.Bench(ctx, load.Spec{Load: deathLoad})
			if err != nil || len(run.Steps) == 0 {
				t.Fatalf("the run after the death of the %s: %v", service, err)
			}
			for _, reason := range run.Reasons {
				if strings.Contains(reason, "while it ran") {
					t.Errorf("the death of the %s is a reason of the next run: %s", service, reason)
				}
			}
		}
		kill("app")
		if _, _, err := f.Bench(ctx, load.Spec{Load: deathLoad}); err == nil && ctx.Err() == nil {
			t.Error("a death with no candidate on trial was not noticed")
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "app") {
		t.Errorf("in the end: %v", err)
	}
}

// deathLoad is the load of each run: time for a kill and for the end of its run.
const deathLoad = 4 * time.Second

// onField brings isucondition up in a new work folder and calls do with its field
// for the runs of a search. Disturbed runs count.
func onField(t *testing.T, do func(ctx context.Context, w *liveTarget, f *field.Field) error) error {
	t.Helper()
	return onArena(t, "isucondition", preparedFolder(t, "isucondition"), do)
}

// freshFolder returns a work folder in which nothing was up. A test that alone in its
// process uses an arena has nothing to share.
func freshFolder(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(workFolder(t), name)
}

// onArena is onField for any arena and work folder.
func onArena(t *testing.T, name, dir string, do func(ctx context.Context, w *liveTarget, f *field.Field) error) error {
	t.Helper()
	a, err := findTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	// No rest between runs: the original site has no cache that a later run could see.
	e := &env{Stderr: &lockedBuffer{}, Now: time.Now, Cols: 80, Rest: time.Millisecond}
	r, err := (&benchCmd{Target: a.Name, Load: deathLoad, Seed: 1, Pin: "auto", Dir: dir}).prepare(e, a)
	if err != nil {
		t.Fatal(err)
	}
	h, err := r.openHistory(t.Context(), acting{what: "tune"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	return withLiveTarget(t.Context(), e, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
		return do(ctx, w, r.searchField(h, w, true))
	})
}
