package isutrain

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// runPerfect runs the benchmarker against an app in memory.
func runPerfect(t *testing.T, size dataSize, days int, load time.Duration, lose func(list []payment) []payment) *iikanji.Run {
	t.Helper()
	l := size.draw()
	ct := newContest(arena.Options{Clock: 10}, l)
	a := &perfectApp{line: l, days: days, lose: lose}
	app, pay := a.serve()
	defer app.Close()
	defer pay.Close()
	run, err := bench.Run(t.Context(), ct, bench.Options{URL: app.URL, Seed: rand.Uint64(), Load: load})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// wantPerfect: the run has no fault, except for sold-out trains.
func wantPerfect(t *testing.T, run *iikanji.Run) {
	t.Helper()
	for _, f := range run.Faults {
		full := f.Kind == iikanji.FaultStatus && f.Step == stepNames[stepReserve]
		if f.Kind != iikanji.FaultTimeout && !full { // timeouts happen on a busy machine
			t.Errorf("fault %s %s %s: %s %+v", f.Kind, f.Step, f.Check, f.Message, f.Example)
		}
	}
	if run.Outcome == iikanji.Failed || run.Raw <= 0 {
		t.Errorf("the run %s: %v", run.Outcome, run.Reasons)
	}
	t.Logf("score %.0f", run.Score)
}

// TestPerfectApp: nothing of a right app is a fault with the smallest window.
func TestPerfectApp(t *testing.T) {
	wantPerfect(t, runPerfect(t, smallSize, leastDays, 2*time.Second, nil))
}

// TestPerfectYear: nothing of a right app is a fault with all parts of the load.
func TestPerfectYear(t *testing.T) {
	tier.Slow(t)
	run := runPerfect(t, contestSize, contestSize.Days, 4*time.Second, nil)
	wantPerfect(t, run)
	for _, g := range run.Gauges {
		if g.Name == "units at once" && g.Value != 12 {
			t.Errorf("%.0f units at once, want 12", g.Value)
		}
	}
}

// TestValidate: what the payment service has lost or kept is found after the load.
func TestValidate(t *testing.T) {
	tier.Slow(t)
	for check, lose := range map[string]func(list []payment) []payment{
		"payment-none":    func([]payment) []payment { return nil },
		"payment-missing": func(list []payment) []payment { return list[max(0, len(list)-1):] },
		"payment-twice":   func(list []payment) []payment { return append(slices.Clone(list), list...) },
		"payment-amount": func(list []payment) []payment {
			for i := range list {
				list[i].Information.Amount++
			}
			return list
		},
		"payment-cancelled": func(list []payment) []payment {
			for i := range list {
				list[i].Information.IsCanceled = false
			}
			return list
		},
		"payment-early": func(list []payment) []payment {
			paid := map[int]bool{}
			for _, p := range list {
				paid[p.Information.ReservationID] = true
			}
			for id := range 10000 {
				var p payment
				if p.Information.ReservationID = id; !paid[id] { // twice is another fault
					list = append(list, p)
				}
			}
			return list
		},
	} {
		t.Run(check, func(t *testing.T) {
			var run *iikanji.Run
			found := false
			for load := 2 * time.Second; !found && load < time.Minute; load *= 2 { // a busy machine has few payments in two seconds
				calls := 0 // the first result is looked at before the load
				run = runPerfect(t, smallSize, leastDays, load, func(list []payment) []payment {
					if calls++; calls == 1 {
						return list
					}
					return lose(list)
				})
				found = run.Outcome == iikanji.Failed && slices.ContainsFunc(run.Faults, func(f iikanji.Fault) bool { return f.Check == check })
			}
			if !found {
				t.Errorf("the run %s: %v", run.Outcome, run.Reasons)
			}
		})
	}
}

// TestWindow: the contest's steps are in the time of the arena.
func TestWindow(t *testing.T) {
	ct := newContest(arena.Options{}, smallSize.draw())
	for days, month := range map[int]int{10: 1, 14: 1, 15: 2, 22: 3, 29: 4, 92: 12} {
		if got := ct.windowOf(days).month(); got != month {
			t.Errorf("%d days: %d units at once, want %d", days, got, month)
		}
	}
}
