package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/judging"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// readJudged reads the judgements and the verdicts of a round into its data.
func readJudged(tx *store.Tx, round string, d *board.Data) error {
	d.Judgements, d.Finals = nil, nil
	err := tx.Each("SELECT job, at, outcome, score, reason FROM judgements WHERE round = ? ORDER BY at, id", []any{round}, func(scan func(...any) error) error {
		j, outcome := board.Judgement{}, ""
		if err := scan(&j.Job, &j.At, &outcome, &j.Score, &j.Reason); err != nil {
			return err
		}
		d.Judgements = append(d.Judgements, j)
		return d.Judgements[len(d.Judgements)-1].Outcome.UnmarshalText([]byte(outcome))
	})
	if err != nil {
		return err
	}
	return tx.Each("SELECT team, score, passed FROM verdicts WHERE round = ? ORDER BY team", []any{round}, func(scan func(...any) error) error {
		f := board.FinalScore{}
		err := scan(&f.Team, &f.Score, &f.Passed)
		d.Finals = append(d.Finals, f)
		return err
	})
}

// Rejudge changes what the results of some runs count, or shows what that would change. The
// results themselves stay.
func (c *Core) Rejudge(ctx context.Context, who, round string, r api.Rejudge) (*api.Rejudged, error) {
	r.Reason = cleaned(r.Reason, 780)
	switch {
	case r.Reason == "":
		return nil, refused("reason", "a rejudge needs a reason: the teams see it")
	case r.As != iikanji.Void && r.As != iikanji.Failed && r.As != iikanji.Passed, r.As == iikanji.Passed && r.Factor <= 0:
		return nil, refused("as", "a run counts as void, as failed, or as passed with a factor above 0")
	}
	var h History
	if _, err := c.Follow(ctx, round, &h); err != nil {
		return nil, err
	}
	ran, err := c.ranBy(ctx, round, r.Worker)
	if err != nil {
		return nil, err
	}
	out := &api.Rejudged{Jobs: []string{}, Applied: r.Apply}
	var judgements []board.Judgement
	for _, x := range h.Data.Results {
		if r.Worker != "" && !ran[x.Job] || len(r.Jobs) > 0 && !slices.Contains(r.Jobs, x.Job) || !r.From.IsZero() && x.At.Before(r.From) || !r.To.IsZero() && !x.At.Before(r.To) {
			continue
		}
		if r.As == iikanji.Passed && x.Outcome != iikanji.Passed {
			continue // a factor makes no failed run a passed one
		}
		j := board.Judgement{Job: x.Job, At: c.Now(), Outcome: r.As, Reason: r.Reason}
		if r.As == iikanji.Passed {
			j.Score = x.Score * r.Factor
		}
		judgements, out.Jobs = append(judgements, j), append(out.Jobs, x.Job)
	}
	out.Moves = moves(judging.Preview(h.Data, judgements, c.Now()))
	if !r.Apply || len(judgements) == 0 {
		out.Applied = false
		return out, nil
	}
	return out, c.store.Write(ctx, "rejudge", func(tx *store.Tx) error {
		for _, j := range judgements {
			if _, err := tx.Exec("INSERT INTO judgements (id, round, job, at, outcome, score, reason, account) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				c.newID(), round, j.Job, j.At, j.Outcome.String(), j.Score, j.Reason, who); err != nil {
				return err
			}
		}
		body, err := json.Marshal(out)
		if err != nil {
			return err
		}
		if err := c.audit(tx, who, "rejudge", round+" "+r.Reason+" "+string(body)); err != nil {
			return err
		}
		return c.event(tx, Event{Round: round, Kind: KindJudge, Body: []byte(`{}`)})
	})
}

// ranBy are the jobs of a round whose result is of a worker.
func (c *Core) ranBy(ctx context.Context, round, worker string) (map[string]bool, error) {
	out := map[string]bool{}
	return out, c.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT id FROM jobs WHERE round = ? AND worker = ? AND state = 'done'", []any{round, worker}, func(scan func(...any) error) error {
			id := ""
			err := scan(&id)
			out[id] = true
			return err
		})
	})
}

// Reveal shows the final results to all: the board's freeze ends, and verdicts are public.
func (c *Core) Reveal(ctx context.Context, who, round, reason string) error {
	act := contest.Act{Kind: contest.Reveal, Reason: reason, At: c.Now(), Who: who}
	err := c.store.Write(ctx, "reveal", func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		if r.State != contest.Provisional && r.State != contest.Finished {
			return refused("state", "the round is %s: publish the provisional results first", r.State)
		}
		body, err := makeAct(tx, r, act)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE rounds SET published = ? WHERE id = ?", act.At, round); err != nil {
			return err
		}
		if err := changed(tx, r, r.State); err != nil {
			return err
		}
		if err := c.audit(tx, who, "reveal", round+" "+reason); err != nil {
			return err
		}
		return c.event(tx, Event{Round: round, Kind: KindClock, Body: body})
	})
	c.Wake()
	return err
}

// mostAppeal bounds the time for an appeal.
const mostAppeal = 90 * 24 * time.Hour

// Disqualify makes an act of a disqualification: it is proposed by one staff member, and in force
// when another one confirms it; the team is told in the same transaction.
func (c *Core) Disqualify(ctx context.Context, who, round string, d api.Disqualify) (out *api.Disqualified, err error) {
	err = c.store.Write(ctx, "disqualify", func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		row, id := &judging.Disqualification{}, d.ID
		if d.Act == "propose" {
			id = c.newID()
			if row, err = c.propose(tx, r, who, id, d); err != nil {
				return err
			}
		} else if row, err = readDisqualification(tx, round, id); err != nil {
			return err
		}
		switch d.Act {
		case "propose":
		case "confirm":
			err = c.confirmDisqualification(tx, r, who, id, row)
		case "lift":
			err = c.liftDisqualification(tx, r, who, id, row, d.Why)
		default:
			err = refused("act", "want propose, confirm or lift")
		}
		if err != nil {
			return err
		}
		out = &api.Disqualified{ID: id, Team: row.Team, Rule: row.Rule, Public: row.Public, Evidence: row.Evidence, By: row.By, At: row.At, Confirmed: row.Confirmed, Appeal: row.Appeal,
			InForce: row.InForce(c.Now()), Lifted: row.Lifted}
		return c.audit(tx, who, "disqualification "+d.Act, id+" "+row.Team+" "+row.Rule+" "+row.LiftedWhy)
	})
	return out, err
}

func (c *Core) propose(tx *store.Tx, r *Round, who, id string, d api.Disqualify) (*judging.Disqualification, error) {
	now := c.Now()
	row := &judging.Disqualification{Team: d.Team, Rule: cleaned(d.Rule, 60), Public: lines(d.Public), Evidence: lines(d.Evidence), By: who, At: now, Appeal: now.Add(min(d.Appeal, mostAppeal))}
	if err := judging.Propose(*row); err != nil {
		return nil, refused("disqualification", "%s", err)
	}
	known := 0
	if err := tx.Row("SELECT COUNT(*) FROM teams WHERE id = ? AND contest = ?", []any{d.Team, r.Contest.ID}, &known); err != nil {
		return nil, err
	}
	if known == 0 {
		return nil, api.ErrNotFound
	}
	_, err := tx.Exec("INSERT INTO disqualifications (id, round, team, rule_number, public_text, evidence, account, at, confirmed, confirmed_at, appeal, lifted, lifted_why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0, ?, 0, '')",
		id, r.ID, row.Team, row.Rule, row.Public, row.Evidence, who, now, row.Appeal)
	return row, err
}

func readDisqualification(tx *store.Tx, round, id string) (*judging.Disqualification, error) {
	d := &judging.Disqualification{}
	err := tx.Row("SELECT team, rule_number, public_text, evidence, account, at, confirmed, confirmed_at, appeal, lifted, lifted_why FROM disqualifications WHERE id = ? AND round = ?", []any{id, round},
		&d.Team, &d.Rule, &d.Public, &d.Evidence, &d.By, &d.At, &d.Confirmed, &d.ConfirmedAt, &d.Appeal, &d.Lifted, &d.LiftedWhy)
	return d, notFound(err)
}

func (c *Core) confirmDisqualification(tx *store.Tx, r *Round, who, id string, d *judging.Disqualification) error {
	if err := d.Confirm(who, c.Now()); err != nil {
		return refused("disqualification", "%s", err)
	}
	if _, err := tx.Exec("UPDATE disqualifications SET confirmed = ?, confirmed_at = ? WHERE id = ?", d.Confirmed, d.ConfirmedAt, id); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE teams SET gone = 'disqualified', gone_at = ? WHERE id = ?", d.ConfirmedAt, d.Team); err != nil {
		return err
	}
	text := fmt.Sprintf("Rule %s: %s\nAn appeal is possible until %s.", d.Rule, d.Public, d.Appeal.Format(time.RFC3339))
	return c.tellTeam(tx, r, who, d.Team, text)
}

func (c *Core) liftDisqualification(tx *store.Tx, r *Round, who, id string, d *judging.Disqualification, why string) error {
	if err := d.Lift(cleaned(why, 780), c.Now()); err != nil {
		return refused("disqualification", "%s", err)
	}
	if _, err := tx.Exec("UPDATE disqualifications SET lifted = ?, lifted_why = ? WHERE id = ?", d.Lifted, d.LiftedWhy, id); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE teams SET gone = '', gone_at = 0 WHERE id = ? AND gone = 'disqualified'", d.Team); err != nil {
		return err
	}
	return c.tellTeam(tx, r, who, d.Team, "The disqualification is lifted: "+d.LiftedWhy)
}

// tellTeam changes a team's place on the boards of its contest and tells the team why.
func (c *Core) tellTeam(tx *store.Tx, r *Round, who, team, text string) error {
	for i := range r.Contest.Rounds {
		if err := c.event(tx, Event{Round: RoundID(r.Contest.ID, r.Contest.Rounds[i].ID), Kind: KindTeam, Team: team}); err != nil {
			return err
		}
	}
	return c.keep(tx, api.Who{Account: who}, &api.Message{ID: c.newID(), Round: r.ID, Kind: "announcement", At: c.Now(), Team: team, Text: text})
}
