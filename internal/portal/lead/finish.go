package lead

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

const (
	// maxLost is how many lost attempts break a job.
	maxLost = 3
	// maxVoids is how many void runs are repeated.
	maxVoids = 2
	// failuresToQuarantine is how many jobs in a row a worker may fail to run, each of
	// another team.
	failuresToQuarantine = 3
	maxReasons           = 20
	maxFaults            = 100
	maxLog               = 1 << 20
)

// Finish accepts the end of an attempt. The same report again has the same effect as once.
func (c *Core) Finish(ctx context.Context, f api.Finish) (api.FinishAnswer, error) {
	f.Report = clean(f.Report)
	body, err := json.Marshal(f.Report)
	if err != nil {
		return api.FinishAnswer{}, err
	}
	digest := Digest(string(body))
	answer := api.FinishAnswer{}
	err = c.store.Write(ctx, "finish", func(tx *store.Tx) (err error) {
		answer.Became, err = c.finish(tx, f, digest, string(body))
		return err
	})
	if err != nil {
		return answer, err
	}
	c.Wake()
	if answer.Became == api.Accepted {
		err = c.carry.Delete(ctx, carry.Leases, f.Job)
	}
	return answer, err
}

func (c *Core) finish(tx *store.Tx, f api.Finish, digest, body string) (string, error) {
	j, err := readJob(tx, f.Job)
	if errors.Is(err, api.ErrNotFound) {
		return api.Unknown, nil
	}
	if err != nil {
		return "", err
	}
	accepted := ""
	switch err := tx.Row("SELECT digest FROM results WHERE job = ?", []any{f.Job}, &accepted); {
	case err == nil && accepted == digest:
		return api.Same, nil
	case err == nil:
		why := api.Conflict
		if f.Epoch != j.Epoch {
			why = api.Superseded
		}
		return why, c.stray(tx, f, digest, body, why)
	case !errors.Is(err, store.ErrNone):
		return "", err
	}
	current := j.Epoch == f.Epoch && j.Worker == f.Worker && j.Handle == Digest(f.Handle)
	if !current || j.State != api.Running && j.State != api.Offered {
		return api.Superseded, c.stray(tx, f, digest, body, api.Superseded)
	}
	return api.Accepted, c.accept(tx, j, f.Report, digest, body)
}

// stray keeps a report that does not count.
func (c *Core) stray(tx *store.Tx, f api.Finish, digest, body, why string) error {
	n := int64(0)
	if err := tx.Row("SELECT COUNT(*) FROM strays WHERE job = ? AND epoch = ? AND digest = ?", []any{f.Job, f.Epoch, digest}, &n); err != nil || n > 0 {
		return err
	}
	_, err := tx.Exec("INSERT INTO strays (job, epoch, digest, at, why, body) VALUES (?, ?, ?, ?, ?, ?)", f.Job, f.Epoch, digest, c.Now(), why, body)
	return err
}

// accept ends the attempt of the current epoch.
func (c *Core) accept(tx *store.Tx, j *job, r api.Report, digest, body string) error {
	now := c.Now()
	used := now.Sub(j.Started)
	if j.Started.IsZero() {
		used = 0
	}
	switch {
	case r.Refused != "" && !j.Stopping:
		j.Says, j.Charged = cleaned("not run, not charged: "+r.Refused, 380), false
		if err := j.close(tx, api.Cancelled, now); err != nil {
			return err
		}
		return c.jobEvent(tx, j, 0)
	case j.Stopping || r.Outcome == iikanji.Interrupted:
		if !j.Stopping { // the worker was drained: the job runs elsewhere
			j.Says = "the worker was stopped; not charged"
			return c.again(tx, j, "stopped", now)
		}
		if err := j.close(tx, api.Cancelled, now); err != nil {
			return err
		}
		if !j.Charged {
			used = 0
		}
		return c.jobEvent(tx, j, used)
	case r.Outcome == iikanji.Void && j.Voids < maxVoids && j.Lane != queue.Final: // there the judges repeat it
		j.Voids++
		j.Says = "the measurement was void: " + strings.Join(r.Reasons, "; ") + "; it runs again, not charged"
		j.Says = cleaned(j.Says, 380)
		return c.again(tx, j, "void", now)
	case r.Outcome == iikanji.Passed, r.Outcome == iikanji.Failed, r.Outcome == iikanji.Void:
		return c.done(tx, j, r, digest, body, used)
	}
	if err := c.failed(tx, j); err != nil {
		return err
	}
	return c.lose(tx, j, "it could not be run: "+r.Error)
}

// again queues a job again for another attempt.
func (c *Core) again(tx *store.Tx, j *job, how string, now time.Time) error {
	if err := j.requeue(tx, how, now); err != nil {
		return err
	}
	return c.jobEvent(tx, j, 0)
}

// done writes the result of a job.
func (c *Core) done(tx *store.Tx, j *job, r api.Report, digest, body string, used time.Duration) error {
	now := c.Now()
	if r.Outcome == iikanji.Void {
		j.Charged, used = false, 0
	}
	if err := j.close(tx, api.Done, now); err != nil {
		return err
	}
	event, err := json.Marshal(ResultEvent{Number: j.Number, Enqueued: j.Enqueued, Outcome: r.Outcome, Score: r.Score, Note: j.Note, Used: used,
		Clean: cleanRun(r)})
	if err != nil {
		return err
	}
	number, err := c.numbered(tx, Event{Round: j.Round, Kind: KindResult, Team: j.Team, Job: j.ID, Body: event})
	if err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO results (job, round, team, number, at, outcome, score, digest, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		j.ID, j.Round, j.Team, number, now, r.Outcome.String(), r.Score, digest, body); err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE workers SET failed = '' WHERE id = ? AND failed <> ''", j.Worker)
	return err
}

// lose ends an attempt that brought no result: the job is queued again, at the third time it
// is broken. Neither is charged.
func (c *Core) lose(tx *store.Tx, j *job, why string) error {
	now := c.Now()
	j.Lost++
	switch {
	case j.Stopping:
		j.Charged = false
		if err := j.close(tx, api.Cancelled, now); err != nil {
			return err
		}
		return c.jobEvent(tx, j, 0)
	case j.Lost < maxLost:
		j.Says = cleaned(why+"; it runs again, not charged", 380)
		return c.again(tx, j, "lost", now)
	}
	j.Says, j.Charged = cleaned("could not be run, not charged: "+why, 380), false
	if err := j.close(tx, api.Broken, now); err != nil {
		return err
	}
	return c.jobEvent(tx, j, 0)
}

// failed notes that a worker could not run a job. After jobs of three teams in a row the
// worker is quarantined.
func (c *Core) failed(tx *store.Tx, j *job) error {
	teams := ""
	if err := tx.Row("SELECT failed FROM workers WHERE id = ?", []any{j.Worker}, &teams); err != nil {
		if errors.Is(err, store.ErrNone) {
			return nil
		}
		return err
	}
	if !strings.Contains(" "+teams+" ", " "+j.Team+" ") {
		teams = strings.TrimSpace(teams + " " + j.Team)
	}
	quarantined := len(strings.Fields(teams)) >= failuresToQuarantine
	_, err := tx.Exec("UPDATE workers SET failed = ?, quarantined = ? WHERE id = ? AND quarantined = 0", teams, quarantined, j.Worker)
	return err
}

// cleaned is a text without control characters, of at most n bytes.
func cleaned(text string, n int) string {
	return plain.CutBytes(plain.Line(text), n)
}

// clean bounds a report: it is from outside.
func clean(r api.Report) api.Report {
	r.Reasons = r.Reasons[:min(len(r.Reasons), maxReasons)]
	for i := range r.Reasons {
		r.Reasons[i] = cleaned(r.Reasons[i], 400)
	}
	r.Faults = r.Faults[:min(len(r.Faults), maxFaults)]
	for i := range r.Faults {
		f := &r.Faults[i]
		f.Step, f.Check, f.Message = cleaned(f.Step, 200), cleaned(f.Check, 100), cleaned(f.Message, 1000)
	}
	r.Points, r.Steps = r.Points[:min(len(r.Points), 200)], r.Steps[:min(len(r.Steps), 200)]
	r.Differs = r.Differs[:min(len(r.Differs), contest.MostShadows)]
	for i := range r.Differs {
		r.Differs[i] = cleaned(r.Differs[i], 200)
	}
	r.Growth = r.Growth[:min(len(r.Growth), 3600)]
	r.Log, r.Stderr, r.Error = lines(r.Log), lines(r.Stderr), cleaned(r.Error, 300)
	r.Refused = cleaned(r.Refused, 300)
	if r.Outcome != iikanji.Passed {
		r.Score = 0
	}
	return r
}

// lines is a text of several lines, cleaned, at most maxLog bytes.
func lines(text string) string {
	return plain.Text(plain.CutBytes(text, maxLog))
}
