package xsuportal

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A phased contest tells a proxy in which phase it is.
type phased struct {
	*contest
	proxy *arenatest.Proxy
}

func (p phased) Load(ctx context.Context, s scenario.Session) error {
	p.proxy.SetPhase(scenario.Load)
	return p.contest.Load(ctx, s)
}

func (p phased) Validate(ctx context.Context, s scenario.Session) error {
	p.proxy.SetPhase(scenario.Validate)
	return p.contest.Validate(ctx, s)
}

// TestValidate: what is wrong after the load alone fails the run.
func TestValidate(t *testing.T) {
	tier.Slow(t)
	for _, c := range []struct {
		name  string
		want  string
		spoil func() arenatest.Hook
	}{
		{"last score is missing", "board-stale", boards(scenario.Validate, func(b *resources.Leaderboard) {
			for _, i := range b.Teams {
				if n := len(i.Scores) - 1; n > 0 && i.Scores[n-1].Score <= i.BestScore.Score {
					i.Scores, i.LatestScore, i.FinishCount = i.Scores[:n], i.Scores[n-1], int64(n)
				}
			}
		})},
		{"team is missing", "board-missing", boards(scenario.Validate, func(b *resources.Leaderboard) { *b = resources.Leaderboard{} })},
		{"questions are missing", "final-questions", changedIn(scenario.Validate, "GET", "/api/admin/clarifications",
			func(m *admin.ListClarificationsResponse) { m.Clarifications = nil })},
		{"answers for everyone reach one team", "final-notifications", changedIn(scenario.Load, "GET", "/api/contestant/notifications",
			func(m *contestant.ListNotificationsResponse) {
				m.Notifications = slices.DeleteFunc(m.Notifications, func(n *resources.Notification) bool {
					return n.GetContentClarification() != nil && !n.GetContentClarification().GetOwned()
				})
			})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for load := leastLoad; ; load *= 2 {
				app := &perfectApp{capacity: 12}
				run := runSpoilt(t, app, c.spoil(), load)
				caught := slices.ContainsFunc(run.Faults, func(f iikanji.Fault) bool { return f.Check == c.want && f.Fatal })
				if caught && run.Outcome == iikanji.Failed {
					return
				}
				if load > mostLoad {
					t.Fatalf("the run %s: %v %+v, want %s", run.Outcome, run.Reasons, run.Faults, c.want)
				}
			}
		})
	}
}

// runSpoilt runs the benchmarker against an app behind a proxy with a hook.
func runSpoilt(t *testing.T, app *perfectApp, hook arenatest.Hook, load time.Duration) *iikanji.Run {
	t.Helper()
	url, stop, err := app.serve()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	proxy, err := arenatest.NewProxy(url)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	proxy.Spoil(hook)
	sc, err := newScenario(arena.Options{Clock: arenatest.FaultClock, Set: smallLoad})
	if err != nil {
		t.Fatal(err)
	}
	o := bench.Options{URL: proxy.URL(), Seed: rand.Uint64(), Load: load}
	run, err := bench.Run(t.Context(), phased{sc.(*contest), proxy}, o)
	if err != nil {
		t.Fatal(err)
	}
	return run
}
