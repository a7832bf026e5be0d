package judging

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

var rule = contest.Final{Reboot: true, Runs: 3, Pass: 2, Counts: "median", VoidRetries: 2}

func done(names ...string) (out []Step) {
	for _, n := range names {
		out = append(out, Step{Name: n, Passed: true})
	}
	return out
}

// runs reads scores: -1 is a failed run, -2 a void one.
func runs(scores ...float64) (out []Run) {
	for _, s := range scores {
		r := Run{Outcome: iikanji.Passed, Score: s}
		if s == -1 {
			r = Run{Outcome: iikanji.Failed}
		} else if s == -2 {
			r = Run{Outcome: iikanji.Void}
		}
		out = append(out, r)
	}
	return out
}

func TestDecide(t *testing.T) {
	all := done("hands-off", "check", "reboot", "check-again", "persistence")
	for _, c := range []struct {
		name  string
		steps []Step
		runs  []Run
		want  Verdict
	}{
		{"three passed", all, runs(100, 300, 200), Verdict{Passed: true, Score: 200}},
		{"one failed counts 0", all, runs(100, -1, 200), Verdict{Passed: true, Score: 100}},
		{"two failed", all, runs(100, -1, -1), Verdict{Reason: "1 of 3 runs passed, 2 must"}},
		{"a void run repeats", all, runs(100, -2, 200), Verdict{Open: true, Runs: 1}},
		{"a void run repeated", all, runs(100, -2, 200, 300), Verdict{Passed: true, Score: 200}},
		{"too many void", all, runs(-2, -2, -2), Verdict{Reason: "3 runs were void"}},
		{"a step is missing", all[:4], runs(100, 300, 200), Verdict{Open: true}},
		{"never came back", []Step{{Name: "reboot", Evidence: "no answer after 5m"}}, nil, Verdict{Reason: "reboot: no answer after 5m"}},
		{"nothing yet", nil, nil, Verdict{Open: true, Runs: 3}},
	} {
		if got := Decide(rule, c.steps, c.runs); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	for how, want := range map[string]float64{"median": 250, "best": 400, "last": 300, "mean": 250} {
		if got := counted(how, []float64{100, 400, 200, 300}); got != want {
			t.Errorf("%s: %v, want %v", how, got, want)
		}
	}
}

func TestChance(t *testing.T) {
	if got := Chance(rule, []bool{true, false, false}); math.Abs(got-0.34375) > 1e-9 {
		t.Errorf("chance %v, want 0.34375", got)
	}
	if got := Sentence(rule); got != "3 runs after a reboot; 2 must pass; the median counts" {
		t.Error(got)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := contest.Final{Runs: rapid.IntRange(1, 9).Draw(t, "runs")}
		f.Pass = rapid.IntRange(1, f.Runs).Draw(t, "pass")
		latest := rapid.SliceOfN(rapid.Bool(), 0, 15).Draw(t, "latest")
		p := Chance(f, latest)
		more := Chance(f, append(latest, true))
		harder := f
		harder.Pass = min(f.Pass+1, f.Runs)
		if p < 0 || p > 1 || math.IsNaN(p) || len(latest) < Latest && more < p-1e-12 || Chance(harder, latest) > p+1e-12 {
			t.Fatalf("chance %v, with one more passed run %v", p, more)
		}
	})
}

// TestBlocks: each block has each team once, and a team's runs are on different workers.
func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		teams := []string{}
		for i := range rapid.IntRange(1, 20).Draw(t, "teams") {
			teams = append(teams, fmt.Sprint(i))
		}
		n, workers := rapid.IntRange(1, 4).Draw(t, "runs"), rapid.IntRange(0, 6).Draw(t, "workers")
		plan := Blocks(teams, n, workers, rapid.Uint64().Draw(t, "seed"))
		seen, used := map[string]bool{}, map[string]bool{}
		for _, p := range plan {
			seen[fmt.Sprint(p.Block, "/", p.Team)] = true
			used[fmt.Sprint(p.Worker, "/", p.Team)] = true
			if p.Block*len(teams)+len(teams) > len(plan) {
				t.Fatal("block out of range")
			}
		}
		if len(seen) != n*len(teams) || workers >= n && len(used) != n*len(teams) {
			t.Fatalf("%d of %d runs, on %d pairs of team and worker", len(seen), n*len(teams), len(used))
		}
	})
	if got := Duration(Blocks([]string{"a", "b", "c", "d"}, 3, 2, 1), 2, time.Minute, 5*time.Minute); got != 11*time.Minute {
		t.Errorf("12 runs of a minute on 2 workers after 5 minutes take %v", got)
	}
}

func TestPreview(t *testing.T) {
	start := time.Date(2027, 2, 6, 1, 0, 0, 0, time.UTC)
	r := &contest.Round{Kind: contest.Live, Start: start, Length: time.Hour, Rules: contest.Rules{Standing: contest.Last, CountsIf: "enqueued"}}
	d := &board.Data{Round: r, Clock: contest.NewClock(r)}
	for i, id := range []string{"a", "b", "c"} {
		d.Teams = append(d.Teams, board.Team{ID: id, Ranked: true})
		d.Results = append(d.Results, board.Result{Job: id, Team: id, Enqueued: start, At: start.Add(time.Minute), Outcome: iikanji.Passed, Score: float64(300 - 100*i)})
	}
	d.Clock.Tail = time.Hour
	moved := Preview(d, []board.Judgement{{Job: "c", At: start.Add(2 * time.Minute), Outcome: iikanji.Passed, Score: 250}}, start.Add(time.Hour))
	if fmt.Sprint(moved) != "[{c 3 2 100 250} {b 2 3 200 200}]" || len(d.Judgements) != 0 {
		t.Errorf("moved %v", moved)
	}
}

func TestDisqualification(t *testing.T) {
	now := time.Date(2027, 2, 6, 9, 0, 0, 0, time.UTC)
	d := Disqualification{Team: "a", Rule: "5.2", Public: "p", Evidence: "e", By: "judge", At: now, Appeal: now.Add(time.Hour)}
	if err := Propose(d); err != nil {
		t.Fatal(err)
	}
	for _, spoil := range []func(*Disqualification){func(d *Disqualification) { d.Rule = "" }, func(d *Disqualification) { d.Evidence = "" },
		func(d *Disqualification) { d.Appeal = now }, func(d *Disqualification) { d.By = "" }} {
		bad := d
		if spoil(&bad); Propose(bad) == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	if d.InForce(now.Add(time.Minute)) || d.Confirm("judge", now) == nil {
		t.Error("it is in force without a second person")
	}
	if err := d.Confirm("other", now); err != nil || !d.InForce(now) || d.Confirm("third", now) == nil {
		t.Errorf("confirmed: %v", err)
	}
	if d.Lift("", now) == nil || d.Lift("error of staff", now.Add(time.Hour)) != nil || d.InForce(now.Add(time.Hour)) || !d.InForce(now.Add(time.Minute)) {
		t.Error("lifted at the wrong time")
	}
}
