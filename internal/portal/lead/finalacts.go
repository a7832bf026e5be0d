package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/judging"
	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// PlanFinal keeps who takes part in the final judging, and the seed of its order. It is changed
// only before the first run.
func (c *Core) PlanFinal(ctx context.Context, who, round string, p api.PlanFinal) (*api.FinalState, error) {
	var h History
	if _, err := c.Follow(ctx, round, &h); err != nil {
		return nil, err
	}
	view := h.View(board.Reader{Role: board.Staff}, c.Now())
	chosen := map[string]bool{}
	for _, row := range view.Rows {
		if row.Rank > 0 && (p.Top == 0 || row.Rank <= p.Top) {
			chosen[row.Team] = true
		}
	}
	if p.Prizes {
		for _, holder := range view.Prizes() {
			if holder.Team != "" {
				chosen[holder.Team] = true
			}
		}
	}
	var teams []string // in the order of the board
	for _, row := range view.Rows {
		if chosen[row.Team] {
			teams = append(teams, row.Team)
		}
	}
	if p.Seed == 0 {
		p.Seed = c.seed("final/" + round)
	}
	p.Seed >>= 1 // 63 bits: a column has no more
	var f *api.FinalState
	plan := func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		if r.Round.Final.Runs == 0 {
			return refused("no-final", "the round has no final judging")
		}
		workers, err := finalWorkers(tx, kindOf(r))
		if err != nil {
			return err
		}
		f = &api.FinalState{Round: round, State: contest.ByTime(r.Clock, r.State, c.Now()), Rule: judging.Sentence(r.Round.Final), Final: r.Round.Final, Seed: p.Seed, Workers: workers}
		for i, team := range teams {
			f.Teams = append(f.Teams, api.FinalTeam{Team: team, Name: nameOf(h.Data.Teams, team), Place: int64(i + 1), Verdict: api.FinalVerdict{Open: true, Missing: r.Round.Final.Runs}})
		}
		c.planned(f, r)
		if p.Apply {
			return c.keepPlan(tx, who, f)
		}
		return nil
	}
	if p.Apply {
		return f, errOr(c.store.Write(ctx, "final-plan", plan), &f)
	}
	return f, errOr(c.store.Read(ctx, plan), &f)
}

// errOr forgets a state that an error made invalid.
func errOr(err error, f **api.FinalState) error {
	if err != nil {
		*f = nil
	}
	return err
}

func nameOf(teams []board.Team, id string) string {
	for _, t := range teams {
		if t.ID == id {
			return t.Name
		}
	}
	return ""
}

// finalWorkers are the ids of the workers that can run a kind and are not quarantined.
func finalWorkers(tx *store.Tx, kind string) (ids []string, err error) {
	err = tx.Each("SELECT id, kinds FROM workers WHERE quarantined = 0 ORDER BY name, id", nil, func(scan func(...any) error) error {
		id, kinds := "", ""
		err := scan(&id, &kinds)
		if slices.Contains(strings.Fields(kinds), kind) {
			ids = append(ids, id)
		}
		return err
	})
	return ids, err
}

// keepPlan writes a plan in the place of an earlier one.
func (c *Core) keepPlan(tx *store.Tx, who string, f *api.FinalState) error {
	runs := 0
	if err := tx.Row("SELECT COUNT(*) FROM final_runs WHERE round = ?", []any{f.Round}, &runs); err != nil {
		return err
	}
	if runs > 0 {
		return refused("begun", "the final judging has begun: %d runs were made", runs)
	}
	for _, table := range []string{"final_plans", "final_teams"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE round = ?", f.Round); err != nil {
			return err
		}
	}
	if _, err := tx.Exec("INSERT INTO final_plans (round, seed, workers, account, at) VALUES (?, ?, ?, ?, ?)", f.Round, int64(f.Seed), strings.Join(f.Workers, " "), who, c.Now()); err != nil {
		return err
	}
	for _, t := range f.Teams {
		if _, err := tx.Exec("INSERT INTO final_teams (round, team, place) VALUES (?, ?, ?)", f.Round, t.Team, t.Place); err != nil {
			return err
		}
	}
	body, err := json.Marshal(f.Teams)
	if err != nil {
		return err
	}
	return c.audit(tx, who, "final plan", f.Round+" "+string(body))
}

// maxEvidence bounds the evidence of a step, in bytes.
const maxEvidence = 64 << 10

// FinalStep keeps what a step of a team showed. Steps are never changed: a later one of its name
// is in force, and a repetition takes back the step and those after it.
func (c *Core) FinalStep(ctx context.Context, who, round string, s api.FinalStep) error {
	s.Name, s.Reason, s.Evidence = cleaned(s.Name, 24), cleaned(s.Reason, 780), lines(s.Evidence)
	s.Evidence = s.Evidence[:min(len(s.Evidence), maxEvidence)]
	if s.Name == "" || s.Repeat && s.Reason == "" {
		return refused("step", "a step has a name, and a repetition a reason")
	}
	if s.Repeat {
		s.Name = repeated + s.Name
	}
	return c.store.Write(ctx, "final-step", func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		if r.State != contest.Judging {
			return refused("not-judging", "the round is %s", r.State)
		}
		known, number := 0, int64(0)
		if err := tx.Row("SELECT COUNT(*) FROM final_teams WHERE round = ? AND team = ?", []any{round, s.Team}, &known); err != nil {
			return err
		}
		if known == 0 {
			return api.ErrNotFound
		}
		if err := tx.Row("SELECT COALESCE(MAX(number), 0) + 1 FROM final_steps WHERE round = ? AND team = ?", []any{round, s.Team}, &number); err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO final_steps (round, team, number, name, at, passed, evidence, account, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			round, s.Team, number, s.Name, c.Now(), s.Passed, s.Evidence, who, s.Reason)
		if err != nil || s.Reason == "" {
			return err
		}
		return c.audit(tx, who, "final step", fmt.Sprintf("%s %s %s %v: %s", round, s.Team, s.Name, s.Passed, s.Reason))
	})
}

// FinalRun enqueues a run of a team in a block of the plan, on the plan's worker, where a void run is
// repeated once; further repetitions are on the next one. A run of the block that is open or valid is given again.
func (c *Core) FinalRun(ctx context.Context, who, round, team string, block int) (*api.Job, error) {
	f, err := c.Final(ctx, round)
	if err != nil {
		return nil, err
	}
	t := finalTeam(f, team)
	if t == nil {
		return nil, api.ErrNotFound
	}
	i := slices.IndexFunc(f.Plan, func(p api.FinalPlanned) bool { return p.Team == team && p.Block == block })
	if i < 0 || f.State != contest.Judging {
		return nil, refused("not-judging", "the plan has no run of block %d, or the round is %s", block, f.State)
	}
	tries := 0
	for _, run := range t.Runs {
		if run.Block != block {
			continue
		}
		if run.State.Open() || run.Outcome == iikanji.Passed || run.Outcome == iikanji.Failed {
			return c.Job(ctx, run.Job)
		}
		tries++
	}
	pin := f.Plan[i].Worker
	if n := slices.Index(f.Workers, pin); n >= 0 {
		pin = f.Workers[(n+tries/2)%len(f.Workers)]
	}
	var out *api.Job
	err = c.store.Write(ctx, "final-run", func(tx *store.Tx) error {
		j, err := c.enqueue(tx, who, true, api.Enqueue{Round: round, Team: team, Lane: queue.Final, Note: fmt.Sprintf("final judging, block %d", block+1), Key: fmt.Sprintf("final/%s/%s/%d/%d", round, team, block, tries), Pin: pin})
		if err != nil {
			return err
		}
		known := 0
		if err := tx.Row("SELECT COUNT(*) FROM final_runs WHERE job = ?", []any{j.ID}, &known); err != nil {
			return err
		}
		if known == 0 {
			if _, err := tx.Exec("INSERT INTO final_runs (job, round, team, block) VALUES (?, ?, ?, ?)", j.ID, round, team, block); err != nil {
				return err
			}
		}
		public := j.public()
		out = &public
		return nil
	})
	c.Wake()
	return out, err
}

// Decide keeps the verdicts of all teams. They are what Final shows: preview and result are the
// same values.
func (c *Core) Decide(ctx context.Context, who, round string) (*api.FinalState, error) {
	f, err := c.Final(ctx, round)
	if err != nil {
		return nil, err
	}
	for _, t := range f.Teams {
		if t.Verdict.Open {
			return nil, refused("open", "team %s has no verdict yet: %d runs and perhaps a step are missing", t.Name, t.Verdict.Missing)
		}
	}
	if len(f.Teams) == 0 {
		return nil, refused("no-plan", "the final judging has no plan")
	}
	err = c.store.Write(ctx, "decide", func(tx *store.Tx) error {
		if _, err := tx.Exec("DELETE FROM verdicts WHERE round = ?", round); err != nil {
			return err
		}
		for _, t := range f.Teams {
			if _, err := tx.Exec("INSERT INTO verdicts (round, team, passed, score, reason, at) VALUES (?, ?, ?, ?, ?, ?)", round, t.Team, t.Verdict.Passed, t.Verdict.Score, cleaned(t.Verdict.Reason, 780), c.Now()); err != nil {
				return err
			}
		}
		body, err := json.Marshal(f.Moves)
		if err != nil {
			return err
		}
		if err := c.audit(tx, who, "verdicts", round+" "+string(body)); err != nil {
			return err
		}
		return c.event(tx, Event{Round: round, Kind: KindJudge, Body: []byte(`{}`)})
	})
	if err != nil {
		return nil, err
	}
	return c.Final(ctx, round)
}
