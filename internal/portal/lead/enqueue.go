package lead

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// errChanged is a row that another transaction changed at the same time.
var errChanged = refused("conflict", "the job changed at the same time")

// maxNote is the longest note, in characters.
const maxNote = 200

// Enqueue creates a job. A team with an open job is refused with "open-job", which names it.
// A repeated Key of an account is the same job.
func (c *Core) Enqueue(ctx context.Context, who string, staff bool, e api.Enqueue) (*api.Job, error) {
	e.Note = plain.Line(strings.TrimSpace(e.Note))
	if utf8.RuneCountInString(e.Note) > maxNote || len(e.Commit) > 64 || len(e.Key) > 64 {
		return nil, refused("too-long", "a note has at most %d characters, a commit 64", maxNote)
	}
	var out *api.Job
	err := c.store.Write(ctx, "enqueue", func(tx *store.Tx) error {
		j, err := c.enqueue(tx, who, staff, e)
		if err == nil {
			public := j.public()
			out = &public
		}
		return err
	})
	if store.IsDuplicate(err) { // another node created one at the same time
		err = refused("open-job", "the team has an open job")
	}
	c.Wake()
	return out, err
}

func (c *Core) enqueue(tx *store.Tx, who string, staff bool, e api.Enqueue) (*job, error) {
	if e.Key != "" {
		id := ""
		err := tx.Row("SELECT job FROM idempotency WHERE account = ? AND name = ?", []any{who, e.Key}, &id)
		if err == nil {
			return readJob(tx, id)
		}
		if !errors.Is(err, store.ErrNone) {
			return nil, err
		}
	}
	r, err := c.round(tx, e.Round)
	if err != nil {
		return nil, err
	}
	now := c.Now()
	j := &job{ID: c.newID(), Round: e.Round, Team: e.Team, State: api.Queued, Charged: true, Enqueued: now, Note: e.Note, Revision: e.Commit, Account: who, Pin: e.Pin}
	j.Lane = cmp.Or(e.Lane, queue.Live)
	if r.Round.Kind == contest.Open && e.Lane == "" {
		j.Lane = queue.Practice
	}
	if !staff {
		if err := mayRun(r, e.Team, now); err != nil {
			return nil, err
		}
	}
	division := ""
	if err := tx.Row("SELECT division FROM teams WHERE id = ? AND contest = ? AND gone = ''", []any{e.Team, r.Contest.ID}, &division); err != nil {
		return nil, notFound(err)
	}
	if j.Host, err = hostOf(tx, e.Team, e.Host); err != nil {
		return nil, err
	}
	open := ""
	switch err := tx.Row("SELECT job FROM open_jobs WHERE round = ? AND team = ?", []any{e.Round, e.Team}, &open); {
	case err == nil:
		return nil, &api.RefusedError{Code: "open-job", Text: "the team has an open job", Job: open}
	case !errors.Is(err, store.ErrNone):
		return nil, err
	}
	if !staff {
		if err := withinBudget(tx, r, e.Team, division, now); err != nil {
			return nil, err
		}
	}
	return j, c.create(tx, j, e.Key)
}

// create writes a job with its rows.
func (c *Core) create(tx *store.Tx, j *job, key string) (err error) {
	if err := tx.Row("SELECT COALESCE(MAX(number), 0) + 1 FROM jobs WHERE round = ? AND team = ?", []any{j.Round, j.Team}, &j.Number); err != nil {
		return err
	}
	if j.Place, err = c.numbered(tx, Event{Round: j.Round, Kind: KindJob, Team: j.Team, Job: j.ID, Body: []byte(`{"state":"queued"}`)}); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO open_jobs (round, team, job) VALUES (?, ?, ?)", j.Round, j.Team, j.ID); err != nil {
		return err
	}
	if err := j.insert(tx); err != nil || key == "" {
		return err
	}
	_, err = tx.Exec("INSERT INTO idempotency (account, name, job, at) VALUES (?, ?, ?, ?)", j.Account, key, j.ID, j.Enqueued)
	return err
}

// mayRun holds a team to the state and the clock of a round.
func mayRun(r *Round, team string, now time.Time) error {
	if r.State != contest.Running && contest.ByTime(r.Clock, r.State, now) != contest.Running {
		return refused("not-running", "the round is %s", r.State)
	}
	if !r.Clock.Runs(team, now) {
		return refused("not-running", "the team's time does not run")
	}
	return nil
}

// hostOf is the host of a job: the named one of the team, else its first that is proven.
func hostOf(tx *store.Tx, team, host string) (string, error) {
	id, proven := "", false
	err := tx.Row("SELECT id, proven FROM hosts WHERE team = ? AND (id = ? OR ? = '') ORDER BY CASE WHEN proven > 0 THEN 0 ELSE 1 END, id LIMIT 1", []any{team, host, host}, &id, &proven)
	switch {
	case errors.Is(err, store.ErrNone):
		return "", refused("no-host", "the team has no such host")
	case err != nil:
		return "", err
	case !proven:
		return "", refused("no-host", "the host is not proven")
	}
	return id, nil
}

// withinBudget holds a team to its division's budget.
func withinBudget(tx *store.Tx, r *Round, team, division string, now time.Time) error {
	b := r.Round.Queue.Budget(division)
	if b == (contest.Budget{}) {
		return nil
	}
	past, others, err := pastOf(tx, r.ID, team)
	if err != nil {
		return err
	}
	err = queue.Check(b, past, now, others)
	if over := (*queue.BudgetError)(nil); errors.As(err, &over) {
		out := &api.RefusedError{Code: "budget", Text: over.Text}
		if !over.From.IsZero() {
			out.Wait = over.From.Sub(now)
		}
		return out
	}
	return err
}

// pastOf is the charged jobs of a team, and how many jobs of others wait.
func pastOf(tx *store.Tx, round, team string) (past []queue.Past, others int, err error) {
	err = tx.Each("SELECT enqueued, ended FROM jobs WHERE round = ? AND team = ? AND charged = 1", []any{round, team}, func(scan func(...any) error) error {
		var p queue.Past
		err := scan(&p.Enqueued, &p.Ended)
		past = append(past, p)
		return err
	})
	if err == nil {
		err = tx.Row("SELECT COUNT(*) FROM jobs WHERE state = 'queued' AND team <> ?", []any{team}, &others)
	}
	return past, others, err
}

// Cancel ends a job: one that waits at once, one that runs when its worker confirms. staff
// may cancel all, a team its own jobs that are not of staff, and running ones if the round
// allows it.
func (c *Core) Cancel(ctx context.Context, who string, staff bool, team, id, reason string) (*api.Job, error) {
	var out *api.Job
	err := c.store.Write(ctx, "cancel", func(tx *store.Tx) error {
		j, err := readJob(tx, id)
		if err != nil {
			return err
		}
		if !staff && j.Team != team {
			return api.ErrNotFound
		}
		if !staff && (j.Lane == queue.Staff || j.Lane == queue.Final) {
			return api.ErrForbidden
		}
		r, err := c.round(tx, j.Round)
		if err != nil {
			return err
		}
		if j.State.Open() {
			if err := c.cancel(tx, r, j, staff, reason); err != nil {
				return err
			}
		}
		if staff {
			if err := c.audit(tx, who, "cancel", id+" "+reason); err != nil {
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

func (c *Core) cancel(tx *store.Tx, r *Round, j *job, staff bool, reason string) error {
	now := c.Now()
	j.Says = cleaned(reason, 300)
	if j.State == api.Queued || j.State == api.Offered && j.Worker == "" {
		j.Charged = false
		if err := j.close(tx, api.Cancelled, now); err != nil {
			return err
		}
		return c.jobEvent(tx, j, 0)
	}
	if !staff && !r.Round.Rules.StopOwnRun {
		return refused("no-stop", "a running job cannot be stopped in this round")
	}
	j.Stopping, j.Charged = true, !staff
	ok, err := j.swap(tx, j.State, j.Epoch)
	if err == nil && !ok {
		err = errChanged
	}
	return err
}
