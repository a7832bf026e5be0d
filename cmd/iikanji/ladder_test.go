package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/ladder"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/report"
)

// Ladders are climbed on arenas with the small data of tests.
func init() {
	for _, name := range arena.Names() {
		if a, _ := arena.Find(name); a.Small != nil {
			a.Generate, a.GeneratedVersion = a.Small.Generate, a.Small.Version
		}
	}
}

// TestLadders applies the rungs of every ladder in their order to its running arena,
// each planned on the state that the earlier ones leave. Those that were taken back
// are undone at once. All checks pass at the end, and the undo of all is complete to
// the byte.
func TestLadders(t *testing.T) {
	tier.Slow(t)
	ladders := 0
	for _, name := range arena.Names() {
		a, _ := arena.Find(name)
		if a.Ladder == nil {
			continue
		}
		ladders++
		rungs, err := ladder.Read(a.Ladder)
		if err != nil || len(rungs) == 0 {
			t.Errorf("%s: %d rungs, %v", name, len(rungs), err)
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name != "isublog" {
				tier.Long(t, "make check climbs one ladder")
			}
			climbWhole(t, name, rungs)
		})
	}
	if ladders == 0 {
		t.Error("no arena has a ladder")
	}
}

func climbWhole(t *testing.T, name string, rungs []ladder.Rung) {
	err := onArena(t, name, freshFolder(t, name), func(ctx context.Context, w *liveTarget, f *field.Field) error {
		before := treeOf(t, stackOf(w).Places().Dir)
		s := &ladderOnSite{w: w, acts: w.executor(f.History), late: map[string]iikanji.Op{}}
		s.acts.Hands = s
		for _, r := range rungs {
			if err := s.climb(ctx, f, r); err != nil {
				return fmt.Errorf("%s: %w", r.File, err)
			}
		}
		if err := s.restart(ctx); err != nil {
			return err
		}
		run, _, err := f.Bench(ctx, load.Spec{Load: deathLoad, Accept: true})
		if err != nil {
			return err
		}
		wrong := slices.DeleteFunc(run.Faults, func(f iikanji.Fault) bool { return f.Kind == iikanji.FaultTimeout }) // a busy machine has them
		if run.Outcome != iikanji.Passed || len(wrong) > 0 {
			t.Errorf("at the end of the ladder: %s, %q, %+v", run.Outcome, run.Reasons, wrong)
		}
		if _, err := s.acts.RevertAll(ctx, "the end of the test"); err != nil {
			return err
		}
		if err := s.restart(ctx); err != nil {
			return err
		}
		after := treeOf(t, stackOf(w).Places().Dir)
		for path := range before {
			if before[path] != after[path] {
				t.Errorf("%s is not as it was", path)
			}
		}
		for path := range after {
			data := strings.HasPrefix(path, "webapp/public/") || strings.HasPrefix(path, "webapp/assignments/") // that the app wrote
			if _, had := before[path]; !had && !data {
				t.Errorf("%s was not there before", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A ladderOnSite applies rungs to a site. The app is built and restarted once, after
// all of them: each patch is compiled when it is planned.
type ladderOnSite struct {
	w    *liveTarget
	acts *change.Executor
	late map[string]iikanji.Op // by the name of the service
}

// Perform implements change.Hands.
func (s *ladderOnSite) Perform(ctx context.Context, op iikanji.Op) error {
	if svc, ok := s.w.Site().Services[op.Place]; ok && op.Verb == iikanji.Restart && svc.Source != "" {
		s.late[op.Place] = op
		return nil
	}
	return s.w.Site().Perform(ctx, op)
}

// State implements change.Hands.
func (s *ladderOnSite) State(ctx context.Context, op iikanji.Op) (iikanji.Fingerprint, error) {
	return s.w.Site().State(ctx, op)
}

// Content implements change.Hands.
func (s *ladderOnSite) Content(ctx context.Context, op iikanji.Op) (string, error) {
	return s.w.Site().Content(ctx, op)
}

// restart performs the restarts that were put off.
func (s *ladderOnSite) restart(ctx context.Context) error {
	for _, op := range s.late {
		if err := s.w.Site().Perform(ctx, op); err != nil {
			return err
		}
	}
	clear(s.late)
	return nil
}

func (s *ladderOnSite) climb(ctx context.Context, f *field.Field, r ladder.Rung) error {
	var done []iikanji.ChangeID
	for _, remedy := range r.Remedies {
		c, err := change.Plan(ctx, s.w.Site(), remedy)
		if err != nil && len(s.late) > 0 { // it may need what the app does since an earlier part
			if err := s.restart(ctx); err != nil {
				return err
			}
			c, err = change.Plan(ctx, s.w.Site(), remedy)
		}
		if err != nil {
			return err
		}
		if err := f.History.AddChange(c, change.Diff(c)); err != nil {
			return err
		}
		if err := s.acts.Apply(ctx, c.ID); err != nil {
			return err
		}
		done = append(done, c.ID)
	}
	if !r.Hurts {
		return nil
	}
	for _, id := range slices.Backward(done) {
		if err := s.acts.Revert(ctx, id, "taken back in the write-up"); err != nil {
			return err
		}
	}
	return nil
}

// treeOf are the files that changes may touch, with their content.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, top := range []string{"webapp", "conf"} {
		err := filepath.WalkDir(filepath.Join(dir, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			rel, _ := filepath.Rel(dir, path)
			files[rel] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestLadderPrint checks the table, the chart and the headline, all in 80 columns.
func TestLadderPrint(t *testing.T) {
	interval := func(mid, half float64) iikanji.Interval {
		return iikanji.Interval{Mid: mid, Lo: mid - half, Hi: mid + half, Level: 0.9}
	}
	verdict := func(call iikanji.Call, why iikanji.Reason, effect iikanji.Interval, pairs int) iikanji.Verdict {
		return iikanji.Verdict{Call: call, Reason: why, Effect: effect, Tried: make([]iikanji.RunID, pairs), Why: "its reason"}
	}
	long := strings.Repeat("a long row ", 12)
	rungs := []climbedRung{
		{ladder.Rung{Row: "first", Told: "1 → 9"}, tune.Climbed{Attempt: search.Attempt{Runs: 4, Verdict: verdict(iikanji.Keep, iikanji.Proven, interval(2, 0.1), 2)}, Stays: true, Scores: [2]float64{100, 739}}},
		{ladder.Rung{Row: long, Told: long}, tune.Climbed{Attempt: search.Attempt{Runs: 1, Verdict: verdict(iikanji.Inconclusive, iikanji.Undecided, interval(0.2, 0.1), 1)}, Stays: true, Scores: [2]float64{700, 854}, Missing: []string{"a part: " + long}}},
		{ladder.Rung{Row: "third", Told: "less", Hurts: true}, tune.Climbed{Attempt: search.Attempt{Runs: 4, Verdict: verdict(iikanji.Revert, iikanji.NoGain, interval(-0.2, 0.1), 2)}, Scores: [2]float64{850, 696}}},
		{ladder.Rung{Row: "fourth", Told: "less", Hurts: true}, tune.Climbed{Attempt: search.Attempt{Runs: 1, Verdict: verdict(iikanji.Inconclusive, iikanji.Undecided, interval(-0.2, 0.1), 1)}, Scores: [2]float64{850, 696}}},
		{ladder.Rung{Row: "fifth", Told: "less", Hurts: true}, tune.Climbed{Attempt: search.Attempt{Runs: 1, Verdict: verdict(iikanji.Inconclusive, iikanji.Undecided, interval(0, 0.1), 1)}, Scores: [2]float64{850, 850}}},
		{ladder.Rung{Row: "sixth", Told: "more"}, tune.Climbed{Attempt: search.Attempt{Runs: 1, Verdict: verdict(iikanji.Inconclusive, iikanji.Undecided, interval(0, 0.1), 1)}, Stays: true, Scores: [2]float64{850, 850}}},
		{ladder.Rung{Row: "seventh", Told: "more"}, tune.Climbed{Attempt: search.Attempt{Runs: 1, Verdict: verdict(iikanji.Revert, iikanji.Gate, iikanji.Interval{}, 0)}}},
		{ladder.Rung{Row: "eighth", Told: "more"}, tune.Climbed{Attempt: search.Attempt{Skipped: "no file"}}},
		{ladder.Rung{Row: "ninth", Told: "more"}, tune.Climbed{Unjudged: true, Stays: true}},
		{ladder.Rung{Row: "tenth", Told: "more"}, tune.Climbed{Alone: true, Attempt: search.Attempt{Runs: 5, Verdict: verdict(iikanji.Keep, iikanji.Proven, interval(0.3, 0.1), 2)}}},
		{ladder.Rung{Row: "eleventh", Told: "more"}, tune.Climbed{Alone: true, Attempt: search.Attempt{Runs: 6, Verdict: verdict(iikanji.Revert, iikanji.NoGain, interval(-0.3, 0.1), 2)}}},
		{ladder.Rung{Row: "twelfth", Told: "more"}, tune.Climbed{Alone: true, Attempt: search.Attempt{Runs: 7, Verdict: verdict(iikanji.Inconclusive, iikanji.Undecided, interval(0, 0.1), 2)}}},
	}
	for i := range rungs {
		rungs[i].Number = i + 1
	}
	out := &tune.Outcome{Ratio: iikanji.Interval{Mid: 12.5, Lo: 12, Hi: 13, Level: 0.9}, Scores: [2]float64{100, 1250}, Final: []iikanji.RunID{1, 2}, Full: time.Minute, Rehearsal: load.Rehearsal{Done: true, OK: true, Says: "all came back"}}
	var b strings.Builder
	a, err := findTarget("isucondition")
	if err != nil {
		t.Fatal(err)
	}
	if err := (&ladderCmd{}).print(&env{Stdout: &b, Cols: 80}, a, &climb{rungs, out}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		" 1  first\n    told 1 → 9\n    × 7.4 (6.7 to 8.2), STAYS, proven; 4 runs\n", "    +22.1 % (+10.5 to +35.0), STAYS, likely a gain; 1 run\n    without a part: a long",
		"-18.1 % (-25.9 to -9.5), UNDONE, hurts; 4 runs\n", "UNDONE, likely hurts; 1 run\n", "UNDONE as told, loss not proven; 1 run\n", "STAYS, not proven; 1 run\n",
		"    UNDONE: its reason; 1 run\n", "    not climbed: no file\n", "    applied without a trial\n",
		"a gain, proven; 5 runs\n", ", hurts; 6 runs\n", "no effect proven; 7 runs\n",
		" 1       739 " + strings.Repeat("█", 57) + "\n", " 3       696 " + strings.Repeat("▒", 54) + "\n", "isucondition: 12.5 × the untouched score (12.0 to 13.0, 90 % interval)", "restart rehearsal: all came back", "undo: iikanji revert isucondition --all\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if report.Width(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
}
