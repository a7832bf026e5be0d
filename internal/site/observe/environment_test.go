package observe

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// TestGuardWatches checks that only the load is measured: the CPU time by service, and
// samples of the host, which Stop returns even if a run is broken off.
func TestGuardWatches(t *testing.T) {
	used := func(g *Guard, who string) time.Duration {
		i := slices.IndexFunc(g.Usage, func(u iikanji.Usage) bool { return u.Who == who })
		if i < 0 {
			t.Fatalf("nobody is called %s: %v", who, g.Usage)
		}
		return g.Usage[i].User + g.Usage[i].System
	}
	for end := time.Now().Add(time.Minute); ; {
		g := &Guard{Now: time.Now, Every: 5 * time.Millisecond, Groups: func() map[string][]int { return map[string][]int{"parent": {os.Getppid()}} }}
		g.Phase(scenario.Prepare, true)
		g.Phase(scenario.Prepare, false)
		if g.from != nil || g.Usage != nil {
			t.Fatal("it watched what is no load")
		}
		g.Phase(scenario.Load, true)
		for began := time.Now(); time.Since(began) < 50*time.Millisecond; { // use the CPU
		}
		g.Phase(scenario.Load, false)
		g.Stop()
		if g.Err != nil {
			t.Fatal(g.Err)
		}
		used(g, "parent")
		used(g, hoststat.Other)
		if g.Environment == nil || g.Environment.Disturbance == iikanji.DiskFull {
			t.Fatalf("environment %+v", g.Environment)
		}
		if used(g, Generator) > 0 && g.Environment.Used > 0 && len(g.Samples) > 0 {
			break
		}
		if time.Now().After(end) { // the kernel counts in hundredths of a second
			t.Fatalf("usage %v, %d samples", g.Usage, len(g.Samples))
		}
	}
	g := &Guard{Now: time.Now, Every: time.Hour}
	g.Phase(scenario.Load, true)
	g.Stop()
	if g.recorder != nil || len(g.Doubts()) > 0 {
		t.Errorf("a run that broke off: %v", g.Doubts())
	}
}

// TestGuardSays checks that a single run and a run that is one of many get the same
// warnings, and that an undisturbed run gets none.
func TestGuardSays(t *testing.T) {
	unseen := errors.New("it was not seen")
	of := func(e iikanji.Environment) Guard { return Guard{Environment: &e} }
	for _, c := range []struct {
		guard  Guard
		doubts []string
	}{
		{Guard{}, nil},
		{of(iikanji.Environment{Steal: StealLimit - 0.001, Other: otherLimit - 0.01, Used: 0.9, Throttled: throttleLimit - 0.001}), nil},
		{of(iikanji.Environment{Steal: StealLimit}), []string{"the hypervisor took 2.0 %"}},
		{of(iikanji.Environment{Other: 0.5}), []string{"programs that are no part of the run used 50 %"}},
		{Guard{Environment: &iikanji.Environment{Other: 0.5}, Unseen: true}, nil},
		{of(iikanji.Environment{Throttled: 0.2, Quota: 1.5}), []string{"a CPU quota of 1.5 cores stopped the run for 20 %"}},
		{Guard{Err: unseen, unsampled: unseen}, []string{unseen.Error(), unseen.Error()}},
	} {
		doubts := c.guard.Doubts()
		same := slices.EqualFunc(doubts, c.doubts, strings.HasPrefix)
		if !same {
			t.Errorf("doubts %q, want %q", doubts, c.doubts)
		}
	}
	run := &iikanji.Run{Usage: []iikanji.Usage{{Who: "engine"}}, Warnings: []string{"first"}}
	(&Guard{}).Mark(run)
	if len(run.Warnings) != 1 || run.Usage[0].Who != "engine" || run.Environment != nil {
		t.Errorf("a quiet run: %v, %v", run.Usage, run.Warnings)
	}
	swapped := &iikanji.Environment{Swapped: 9}
	(&Guard{Usage: []iikanji.Usage{{Who: "app"}}, Err: unseen, Environment: swapped}).Mark(run)
	if !slices.Equal(run.Warnings, []string{"first", unseen.Error()}) || run.Usage[0].Who != "app" || run.Environment != swapped {
		t.Errorf("a disturbed run: %v, %v", run.Usage, run.Warnings)
	}
}
