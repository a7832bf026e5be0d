package lead

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/judging"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// KindJudge is an event: a judgement or a verdict; boards read them again.
const KindJudge = "judge"

// repeated begins the name of a step that takes another one back.
const repeated = "repeat:"

// Final reads the final judging of a round.
func (c *Core) Final(ctx context.Context, round string) (*api.FinalState, error) {
	var h History
	if _, err := c.Follow(ctx, round, &h); err != nil {
		return nil, err
	}
	var f *api.FinalState
	err := c.store.Read(ctx, func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		f = &api.FinalState{Round: round, State: contest.ByTime(r.Clock, r.State, c.Now()), Rule: judging.Sentence(r.Round.Final), Final: r.Round.Final, Teams: []api.FinalTeam{}}
		if err := readFinal(tx, f, h.Data.Teams); err != nil {
			return err
		}
		c.planned(f, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	f.Moves = finalMoves(h.Data, f, c.Now())
	return f, nil
}

// readFinal reads the plan, the steps, the runs and the verdicts.
func readFinal(tx *store.Tx, f *api.FinalState, teams []board.Team) error {
	workers, seed := "", int64(0)
	switch err := tx.Row("SELECT seed, workers FROM final_plans WHERE round = ?", []any{f.Round}, &seed, &workers); {
	case errors.Is(err, store.ErrNone):
		return nil
	case err != nil:
		return err
	}
	f.Seed, f.Workers = uint64(seed), strings.Fields(workers)
	err := tx.Each("SELECT team, place FROM final_teams WHERE round = ? ORDER BY place", []any{f.Round}, func(scan func(...any) error) error {
		t := api.FinalTeam{Steps: []api.FinalStep{}, Runs: []api.FinalRun{}}
		if err := scan(&t.Team, &t.Place); err != nil {
			return err
		}
		if i := slices.IndexFunc(teams, func(b board.Team) bool { return b.ID == t.Team }); i >= 0 {
			t.Name = teams[i].Name
		}
		f.Teams = append(f.Teams, t)
		return nil
	})
	if err != nil {
		return err
	}
	if err := readSteps(tx, f); err != nil {
		return err
	}
	if err := readRuns(tx, f); err != nil {
		return err
	}
	kept := map[string]bool{}
	err = tx.Each("SELECT team FROM verdicts WHERE round = ?", []any{f.Round}, func(scan func(...any) error) error {
		team := ""
		err := scan(&team)
		kept[team] = true
		return err
	})
	for i := range f.Teams {
		t := &f.Teams[i]
		t.Decided = kept[t.Team]
		t.Verdict = verdictOf(f.Final, t)
	}
	return err
}

// team is the entry of a team, or nil.
func finalTeam(f *api.FinalState, id string) *api.FinalTeam {
	for i := range f.Teams {
		if f.Teams[i].Team == id {
			return &f.Teams[i]
		}
	}
	return nil
}

// readSteps reads the steps that are in force: the latest of each name that was not taken back.
func readSteps(tx *store.Tx, f *api.FinalState) error {
	return tx.Each("SELECT team, name, at, passed, evidence, account, reason FROM final_steps WHERE round = ? ORDER BY team, number", []any{f.Round}, func(scan func(...any) error) error {
		s := api.FinalStep{}
		if err := scan(&s.Team, &s.Name, &s.At, &s.Passed, &s.Evidence, &s.By, &s.Reason); err != nil {
			return err
		}
		t := finalTeam(f, s.Team)
		if t == nil {
			return nil
		}
		if name, ok := strings.CutPrefix(s.Name, repeated); ok {
			if i := slices.IndexFunc(t.Steps, func(o api.FinalStep) bool { return o.Name == name }); i >= 0 {
				t.Steps = t.Steps[:i]
			}
			return nil
		}
		t.Steps = slices.DeleteFunc(t.Steps, func(o api.FinalStep) bool { return o.Name == s.Name })
		t.Steps = append(t.Steps, s)
		return nil
	})
}

// readRuns reads the runs with their results, in the order of their making.
func readRuns(tx *store.Tx, f *api.FinalState) error {
	return tx.Each("SELECT f.team, f.block, j.id, j.state, j.worker, j.says, r.outcome, r.score FROM final_runs f JOIN jobs j ON j.id = f.job LEFT JOIN results r ON r.job = f.job WHERE f.round = ? ORDER BY j.place", []any{f.Round},
		func(scan func(...any) error) error {
			run, team, state := api.FinalRun{}, "", ""
			var outcome *string
			var score *float64
			if err := scan(&team, &run.Block, &run.Job, &state, &run.Worker, &run.Text, &outcome, &score); err != nil {
				return err
			}
			run.State = api.JobState(state)
			if outcome != nil {
				if err := run.Outcome.UnmarshalText([]byte(*outcome)); err != nil {
					return err
				}
				run.Score = *score
			} else if run.State == api.Broken || run.State == api.Cancelled {
				run.Outcome = iikanji.Void // it measured nothing: it is repeated
			}
			if t := finalTeam(f, team); t != nil {
				t.Runs = append(t.Runs, run)
			}
			return nil
		})
}

// verdictOf is the verdict by the rule.
func verdictOf(rule contest.Final, t *api.FinalTeam) api.FinalVerdict {
	var steps []judging.Step
	for _, s := range t.Steps {
		steps = append(steps, judging.Step{Name: s.Name, At: s.At, Passed: s.Passed, Evidence: s.Evidence})
	}
	var runs []judging.Run
	for _, r := range t.Runs {
		if !r.State.Open() {
			runs = append(runs, judging.Run{Job: r.Job, Outcome: r.Outcome, Score: r.Score})
		}
	}
	v := judging.Decide(rule, steps, runs)
	return api.FinalVerdict{Passed: v.Passed, Score: v.Score, Reason: v.Reason, Open: v.Open, Missing: v.Runs}
}

// planned adds the plan: its order follows from the seed.
func (c *Core) planned(f *api.FinalState, r *Round) {
	teams := make([]string, len(f.Teams))
	for i, t := range f.Teams {
		teams[i] = t.Team
	}
	slices.Sort(teams) // the order must not depend on the places
	plan := judging.Blocks(teams, r.Round.Final.Runs, len(f.Workers), f.Seed)
	for _, p := range plan {
		worker := ""
		if p.Worker >= 0 {
			worker = f.Workers[p.Worker]
		}
		f.Plan = append(f.Plan, api.FinalPlanned{Team: p.Team, Block: p.Block, Worker: worker})
	}
	reboot := time.Duration(0)
	if r.Round.Final.Reboot {
		reboot = 2 * r.Round.Final.BackIn
	}
	f.Takes = judging.Duration(plan, len(f.Workers), r.Problem().Load+runOverhead, reboot)
}

// runOverhead is what a run takes beside its load: initialization and checks.
const runOverhead = 15 * time.Second

// finalMoves is what the verdicts would change on the board of staff.
func finalMoves(d *board.Data, f *api.FinalState, now time.Time) []api.Move {
	next := *d
	next.Finals = nil
	for _, t := range f.Teams {
		if !t.Verdict.Open {
			next.Finals = append(next.Finals, board.FinalScore{Team: t.Team, Score: t.Verdict.Score, Passed: t.Verdict.Passed})
		}
	}
	before := *d
	before.Finals = nil
	return moves(judging.Compare(&before, &next, now))
}

func moves(all []judging.Moved) []api.Move {
	out := []api.Move{}
	for _, m := range all {
		out = append(out, api.Move{Team: m.Team, From: m.From, To: m.To, Was: m.Was, Is: m.Is})
	}
	return out
}
