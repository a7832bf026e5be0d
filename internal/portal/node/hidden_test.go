package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/node"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A world is a portal in this process with a clock of its own and ids that count up.
type world struct {
	t      *testing.T
	minute atomic.Int64
	core   *lead.Core
	carry  carry.Carrier
	node   *node.Node
	leader *lead.Leader
	teams  []string
}

const hiddenContest = `name = "Hidden"
local = true
[[rounds]]
id = "day"
problem = "p"
start = 2027-02-06T10:00:00Z
hours = 8
freeze = "1h"
[[rounds.prizes]]
id = "jump"
kind = "biggest_jump"
of = "ratio"
[[rounds.prizes]]
id = "jury"
kind = "manual"
[[rounds.hints]]
id = "index"
text = "an index on the rent"
after = "30m"
above = 120
[problem.p]
command = ["true"]
load = "10s"
`

const hiddenRound = "hidden_day"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	now := func() time.Time {
		return time.Date(2027, 2, 6, 10, 0, 0, 0, time.UTC).Add(time.Duration(w.minute.Load()) * time.Minute)
	}
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "w.db"), store.Options{Unsafe: true})
	w.check(err)
	t.Cleanup(func() { s.Close() })
	w.carry = carry.NewMemory(now)
	var ids atomic.Int64
	w.core = lead.New(lead.Options{Store: s, Carry: w.carry, Secret: []byte("x"), Now: now, NewID: func() string { return fmt.Sprintf("%026d", ids.Add(1)) }})
	_, err = w.core.AddContest(t.Context(), []byte(hiddenContest), "hidden.toml")
	w.check(err)
	for i := range 3 {
		made, err := w.core.NewTeam(t.Context(), lead.NewTeam{Contest: "hidden", Name: fmt.Sprint("team ", i)}, fmt.Sprintf("http://127.0.0.1:%d", 1000+i))
		w.check(err)
		w.teams = append(w.teams, made.Team)
	}
	w.check(w.core.Register(t.Context(), api.Register{Worker: "w", Name: "w", Kinds: []string{"command"}, Slots: 1, Boot: "1"}))
	w.leader, err = w.core.Elect(t.Context(), slog.New(slog.DiscardHandler))
	w.check(err)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	w.node, err = node.New(ctx, w.core, w.carry, slog.New(slog.DiscardHandler))
	w.check(err)
	return w
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// run makes a run of a team at a minute.
func (w *world) run(team int, minute int64, score float64) {
	w.t.Helper()
	ctx := w.t.Context()
	w.minute.Store(minute)
	_, err := w.core.Enqueue(ctx, "u", false, api.Enqueue{Round: hiddenRound, Team: w.teams[team], Note: "note"})
	w.check(err)
	w.check(w.core.Waits(ctx, "w", []string{"command"}, 1))
	w.check(w.leader.Tick(ctx, true))
	m, err := w.carry.Take(ctx, carry.Tasks, lead.TaskSubject("command"), 0)
	w.check(err)
	a, err := w.core.Claim(ctx, m.Data, "w")
	w.check(err)
	w.check(m.Ack(ctx))
	claimed := api.Claimed{Worker: "w", Job: a.Job, Epoch: a.Epoch, Handle: a.Handle}
	_, err = w.core.Beat(ctx, api.Beat{Claimed: claimed, Progress: &api.Progress{Phase: "load", Score: score / 2}})
	w.check(err)
	_, err = w.core.Finish(ctx, api.Finish{Claimed: claimed, Report: api.Report{Outcome: iikanji.Passed, Score: score}})
	w.check(err)
	w.check(w.leader.Tick(ctx, true))
}

// shows is all that a caller sees of the round, as bytes, once the node knows n runs.
func (w *world) shows(who api.Who, n int) string {
	w.t.Helper()
	ctx := w.t.Context()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		b, err := w.node.Board(ctx, api.Who{Role: api.Organiser, Account: "s"}, hiddenRound)
		w.check(err)
		if b.Runs == n {
			break
		}
		if time.Now().After(end) {
			w.t.Fatalf("the node knows %d runs, want %d", b.Runs, n)
		}
	}
	board, err := w.node.Board(ctx, who, hiddenRound)
	w.check(err)
	series, err := w.node.Series(ctx, who, hiddenRound, w.teams[:2])
	w.check(err)
	round, err := w.node.Round(ctx, who, hiddenRound)
	w.check(err)
	team, err := w.node.Team(ctx, who, hiddenRound, w.teams[0])
	w.check(err)
	queue, err := w.node.Queue(ctx, who, hiddenRound)
	w.check(err)
	messages, err := w.node.Messages(ctx, who, hiddenRound)
	w.check(err)
	ghosts, err := w.node.Ghosts(ctx, who, hiddenRound)
	w.check(err)
	text, err := json.Marshal([]any{board, series, round, team, queue, messages, ghosts})
	w.check(err)
	return string(text)
}

// TestHidden: two portals that are equal until the freeze answer the same bytes to the public and
// to other teams until the reveal, and their streams send the same frames; after it they differ.
func TestHidden(t *testing.T) {
	one, two := newWorld(t), newWorld(t)
	callers := map[string]func(*world) api.Who{
		"public": func(*world) api.Who { return api.Who{Role: api.Spectator} },
		"team":   func(w *world) api.Who { return api.Who{Account: "u", Role: api.Member, Team: w.teams[2]} },
	}
	streams := map[string][2]<-chan api.Frame{}
	for _, w := range []*world{one, two} {
		w.run(0, 10, 100)
		w.run(1, 20, 150)
		w.run(2, 30, 90)
	}
	for name, caller := range callers {
		a, b := one.shows(caller(one), 3), two.shows(caller(two), 3)
		if a != b {
			t.Fatalf("%s: the portals differ before the freeze:\n%s\n%s", name, a, b)
		}
		first, err := one.node.Stream(t.Context(), caller(one), hiddenRound, "")
		one.check(err)
		second, err := two.node.Stream(t.Context(), caller(two), hiddenRound, "")
		two.check(err)
		streams[name] = [2]<-chan api.Frame{first, second}
	}
	one.run(0, 430, 900)
	one.run(1, 440, 50)
	two.run(1, 430, 7)
	two.run(0, 440, 8)
	one.check(one.core.Award(t.Context(), "s", hiddenRound, api.Award{Prize: "jury", Team: one.teams[1], Reason: "hidden"}))
	for _, w := range []*world{one, two} {
		w.minute.Store(470)
	}
	for name, caller := range callers {
		if a, b := one.shows(caller(one), 5), two.shows(caller(two), 5); a != b {
			t.Errorf("%s sees what is hidden:\n%s\n%s", name, a, b)
		}
	}
	for _, w := range []*world{one, two} {
		w.minute.Store(500)
		w.check(w.leader.Tick(t.Context(), true))
		w.check(w.core.Act(t.Context(), "s", hiddenRound, contest.Act{Kind: contest.Reveal, Reason: "the ceremony"}))
		w.check(w.leader.Tick(t.Context(), true))
	}
	for name, caller := range callers {
		// Up to the reveal the streams are equal, frame by frame; then the boards differ.
		for n := 0; ; n++ {
			a, b := <-streams[name][0], <-streams[name][1]
			if a.Kind != b.Kind || a.ID != b.ID {
				t.Fatalf("%s: frame %d is %s %s and %s %s", name, n, a.ID, a.Kind, b.ID, b.Kind)
			}
			if n < 20 && (a.Kind == "clock" || string(a.Data) == string(b.Data)) {
				continue
			}
			if a.Kind != "board" || string(a.Data) == string(b.Data) {
				t.Errorf("%s: frame %d, %s: %.200s and %.200s", name, n, a.Kind, a.Data, b.Data)
			}
			break
		}
		// Both nodes have sent a board after the reveal: they show it.
		if a, b := one.shows(caller(one), 5), two.shows(caller(two), 5); a == b {
			t.Errorf("%s sees nothing after the reveal: the test would prove nothing", name)
		}
	}
}
