package lead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// Job reads a job with its result, as staff sees it. The caller removes what a reader may not
// see.
func (c *Core) Job(ctx context.Context, id string) (out *api.Job, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		j, err := readJob(tx, id)
		if err != nil {
			return err
		}
		public := j.public()
		out = &public
		body, digest := "", ""
		err = tx.Row("SELECT body, digest FROM results WHERE job = ?", []any{id}, &body, &digest)
		if errors.Is(err, store.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		out.Result, err = resultOf(body, digest)
		return err
	})
	return out, err
}

// resultOf is the result of a kept report.
func resultOf(body, digest string) (*api.Result, error) {
	var r api.Report
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	return &api.Result{Outcome: r.Outcome, Score: r.Score, Raw: r.Raw, Deducted: r.Deducted, Reasons: r.Reasons, Points: r.Points, Faults: r.Faults,
		Steps: r.Steps, Growth: r.Growth, Load: r.Load, Log: r.Log, Seed: r.Seed, Stderr: r.Stderr, Digest: digest}, nil
}

// Jobs lists jobs of a round, the newest first, of one team or of all ("") . A result has its
// outcome and score only.
func (c *Core) Jobs(ctx context.Context, round, team string) (out []api.Job, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		jobs, err := readJobs(tx, "WHERE round = ? AND (team = ? OR ? = '') ORDER BY place DESC LIMIT 2000", round, team, team)
		if err != nil {
			return err
		}
		results := map[string]*api.Result{}
		err = tx.Each("SELECT job, outcome, score, digest FROM results WHERE round = ? AND (team = ? OR ? = '')", []any{round, team, team}, func(scan func(...any) error) error {
			job, outcome, r := "", "", &api.Result{}
			if err := scan(&job, &outcome, &r.Score, &r.Digest); err != nil {
				return err
			}
			results[job] = r
			return r.Outcome.UnmarshalText([]byte(outcome))
		})
		for _, j := range jobs {
			public := j.public()
			public.Result = results[j.ID]
			out = append(out, public)
		}
		return err
	})
	return out, err
}

// Messages lists the messages of a round, the oldest first.
func (c *Core) Messages(ctx context.Context, round string) (out []api.Message, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT m.id, m.kind, m.at, a.name, m.team, m.reply, m.open, m.body, b.name, m.claimed_at FROM messages m LEFT JOIN accounts a ON a.id = m.account LEFT JOIN accounts b ON b.id = m.claimed WHERE m.round = ? ORDER BY m.at, m.id",
			[]any{round}, func(scan func(...any) error) error {
				m := api.Message{Round: round}
				var by, claim *string
				var claimed time.Time
				if err := scan(&m.ID, &m.Kind, &m.At, &by, &m.Team, &m.To, &m.Public, &m.Text, &claim, &claimed); err != nil {
					return err
				}
				if by != nil {
					m.By = *by
				}
				if claim != nil && c.Now().Sub(claimed) < claimLasts {
					m.Claim = *claim
				}
				out = append(out, m)
				return nil
			})
	})
	return out, err
}

// A TeamInfo is what a team's own page shows of it.
type TeamInfo struct {
	Division string
	Hosts    []api.Host
	Members  []string
	Open     string // its open job
	Past     []queue.Past
}

// Team reads a team of a round.
func (c *Core) Team(ctx context.Context, round, team string) (*TeamInfo, error) {
	t := &TeamInfo{}
	err := c.store.Read(ctx, func(tx *store.Tx) (err error) {
		if err := tx.Row("SELECT division FROM teams WHERE id = ?", []any{team}, &t.Division); err != nil {
			return notFound(err)
		}
		contestID := ""
		if err := tx.Row("SELECT contest FROM teams WHERE id = ?", []any{team}, &contestID); err != nil {
			return err
		}
		t.Hosts, err = hostRows(tx, contestID, team, c.Now())
		if err != nil {
			return err
		}
		err = tx.Each("SELECT a.name FROM members m JOIN accounts a ON a.id = m.account WHERE m.team = ? ORDER BY m.joined, a.id", []any{team}, func(scan func(...any) error) error {
			name := ""
			err := scan(&name)
			t.Members = append(t.Members, name)
			return err
		})
		if err != nil {
			return err
		}
		if err := tx.Row("SELECT job FROM open_jobs WHERE round = ? AND team = ?", []any{round, team}, &t.Open); err != nil && !errors.Is(err, store.ErrNone) {
			return err
		}
		t.Past, _, err = pastOf(tx, round, team)
		return err
	})
	return t, err
}
