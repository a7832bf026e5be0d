package lead

import (
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A job is a row of the table jobs.
type job struct {
	ID, Round, Team                                     string
	Number                                              int64
	Lane                                                queue.Lane
	State                                               api.JobState
	Attempt, Epoch, Lost, Voids, Place                  int64
	Again, Stopping, Charged                            bool
	Enqueued, Offered, Sent, Claimed, Started, Ended    time.Time
	Worker, Handle, Host, Note, Revision, Account, Says string
	Pin                                                 string // the worker that should run it; "" for any
}

const jobColumns = "id, round, team, number, lane, state, attempt, epoch, lost, voids, place, again, stopping, charged, enqueued, offered, sent, claimed, started, ended, worker, handle, host, note, revision, account, says, pin"

// scanJob reads a row of jobColumns.
func scanJob(scan func(...any) error) (*job, error) {
	j, lane, state := &job{}, "", ""
	err := scan(&j.ID, &j.Round, &j.Team, &j.Number, &lane, &state, &j.Attempt, &j.Epoch, &j.Lost, &j.Voids, &j.Place, &j.Again, &j.Stopping, &j.Charged,
		&j.Enqueued, &j.Offered, &j.Sent, &j.Claimed, &j.Started, &j.Ended, &j.Worker, &j.Handle, &j.Host, &j.Note, &j.Revision, &j.Account, &j.Says, &j.Pin)
	j.Lane, j.State = queue.Lane(lane), api.JobState(state)
	return j, err
}

// readJob reads one job; api.ErrNotFound if there is none.
func readJob(tx *store.Tx, id string) (*job, error) {
	jobs, err := readJobs(tx, "WHERE id = ?", id)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, api.ErrNotFound
	}
	return jobs[0], nil
}

// readJobs reads the jobs of a condition.
func readJobs(tx *store.Tx, where string, args ...any) (out []*job, err error) {
	err = tx.Each("SELECT "+jobColumns+" FROM jobs "+where, args, func(scan func(...any) error) error {
		j, err := scanJob(scan)
		out = append(out, j)
		return err
	})
	return out, err
}

// insert writes a new job.
func (j *job) insert(tx *store.Tx) error {
	_, err := tx.Exec("INSERT INTO jobs ("+jobColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		j.ID, j.Round, j.Team, j.Number, string(j.Lane), string(j.State), j.Attempt, j.Epoch, j.Lost, j.Voids, j.Place, j.Again, j.Stopping, j.Charged,
		j.Enqueued, j.Offered, j.Sent, j.Claimed, j.Started, j.Ended, j.Worker, j.Handle, j.Host, j.Note, j.Revision, j.Account, j.Says, j.Pin)
	return err
}

// swap writes what changes in a job's life, if its state and epoch are those that were read.
// It reports whether they were.
func (j *job) swap(tx *store.Tx, state api.JobState, epoch int64) (bool, error) {
	n, err := tx.Exec("UPDATE jobs SET state = ?, attempt = ?, epoch = ?, lost = ?, voids = ?, again = ?, stopping = ?, charged = ?, offered = ?, sent = ?, claimed = ?, started = ?, ended = ?, worker = ?, handle = ?, says = ?, pin = ? WHERE id = ? AND state = ? AND epoch = ?",
		string(j.State), j.Attempt, j.Epoch, j.Lost, j.Voids, j.Again, j.Stopping, j.Charged, j.Offered, j.Sent, j.Claimed, j.Started, j.Ended, j.Worker, j.Handle, j.Says, j.Pin, j.ID, string(state), epoch)
	return n == 1, err
}

// public is a job as the API has it.
func (j *job) public() api.Job {
	return api.Job{ID: j.ID, Round: j.Round, Team: j.Team, Number: j.Number, State: j.State, Lane: j.Lane, Attempt: int(j.Attempt), Note: j.Note, Commit: j.Revision,
		By: j.Account, Host: j.Host, Enqueued: j.Enqueued, Started: j.Started, Ended: j.Ended, Text: j.Says, Worker: j.Worker}
}

// close ends a job: its team may enqueue again.
func (j *job) close(tx *store.Tx, to api.JobState, now time.Time) error {
	state, epoch := j.State, j.Epoch
	j.State, j.Ended = to, now
	ok, err := j.swap(tx, state, epoch)
	if err != nil {
		return err
	}
	if !ok {
		return errChanged
	}
	if _, err := tx.Exec("DELETE FROM open_jobs WHERE round = ? AND team = ? AND job = ?", j.Round, j.Team, j.ID); err != nil {
		return err
	}
	return j.endAttempt(tx, string(to), now)
}

// requeue puts a job back at its old place; the next attempt has another epoch.
func (j *job) requeue(tx *store.Tx, how string, now time.Time) error {
	if err := j.endAttempt(tx, how, now); err != nil {
		return err
	}
	state, epoch := j.State, j.Epoch
	j.State, j.Again, j.Epoch, j.Worker, j.Handle = api.Queued, true, epoch+1, "", ""
	j.Offered, j.Sent, j.Claimed, j.Started = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	ok, err := j.swap(tx, state, epoch)
	if err == nil && !ok {
		err = errChanged
	}
	return err
}

// endAttempt notes how the current attempt ended.
func (j *job) endAttempt(tx *store.Tx, how string, now time.Time) error {
	_, err := tx.Exec("UPDATE attempts SET ended = ?, how = ? WHERE job = ? AND epoch = ? AND ended = 0", now, how, j.ID, j.Epoch)
	return err
}
