package lead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// Pool is the only pool of workers so far.
const Pool = "main"

// kindOf is the kind of problem of a round. A command of a contest that is not local is foreign:
// only workers with a sandbox take it.
func kindOf(r *Round) string {
	kind := r.Problem().Kind()
	if kind == "command" && !r.Contest.Local {
		return "confined"
	}
	return kind
}

// TaskSubject is the subject of offers to workers of a pool that can run a kind of problem.
func TaskSubject(kind string) string { return "iik.task." + Pool + "." + kind }

// PinnedSubject is the subject of offers to one worker.
func PinnedSubject(worker string) string { return "iik.task." + Pool + ".to." + Digest(worker)[:24] }

// An offer is a message of TASKS.
type offer struct {
	Job   string `json:"job"`
	Epoch int64  `json:"epoch"`
}

// Claim gives the job of an offer to a worker. It is nil if the offer is no longer valid: the
// job was cancelled, or offered again.
func (c *Core) Claim(ctx context.Context, data []byte, worker string) (*api.Assignment, error) {
	var o offer
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, nil // not ours: dropped
	}
	handle := RandomID() + RandomID()
	var out *api.Assignment
	err := c.store.Write(ctx, "claim", func(tx *store.Tx) error {
		out = nil
		n, err := tx.Exec("UPDATE jobs SET worker = ?, handle = ?, claimed = ? WHERE id = ? AND epoch = ? AND state = 'offered' AND worker = ''",
			worker, Digest(handle), c.Now(), o.Job, o.Epoch)
		if err != nil || n == 0 {
			return err
		}
		j, err := readJob(tx, o.Job)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO attempts (job, epoch, worker, began, ended, how) VALUES (?, ?, ?, ?, 0, '')", j.ID, j.Epoch, worker, c.Now()); err != nil {
			return err
		}
		if out, err = c.assignment(tx, j, handle); !errors.Is(err, errHostGone) {
			return err
		}
		j.Says, j.Charged = "not run, not charged: its host was removed", false
		if err := j.close(tx, api.Cancelled, c.Now()); err != nil {
			return err
		}
		return c.jobEvent(tx, j, 0)
	})
	return out, err
}

// errHostGone is a job whose host was removed or is no longer proven.
var errHostGone = errors.New("the host of the job is gone")

// assignment is what a worker needs to know of a job.
func (c *Core) assignment(tx *store.Tx, j *job, handle string) (*api.Assignment, error) {
	r, err := c.round(tx, j.Round)
	if err != nil {
		return nil, err
	}
	a := &api.Assignment{Job: j.ID, Epoch: j.Epoch, Attempt: int(j.Attempt), Handle: handle, Problem: *r.Problem(), Seed: c.seed(j.ID),
		Local: r.Contest.Local, Log: r.Round.Show.Log}
	if s := seedOf(&a.Problem, j.Lane); s != "" {
		if a.Seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			return nil, fmt.Errorf("the seed of problem %s: %w", a.Problem.ID, err)
		}
	}
	err = tx.Each("SELECT id, url FROM hosts WHERE team = ? AND proven > 0 ORDER BY id", []any{j.Team}, func(scan func(...any) error) error {
		id, url := "", ""
		if err := scan(&id, &url); err != nil {
			return err
		}
		a.Targets = append(a.Targets, url)
		if id == j.Host {
			a.Target = url
		}
		return nil
	})
	if err == nil && a.Target == "" {
		err = errHostGone
	}
	if err != nil {
		return nil, err
	}
	a.Ports = r.Contest.Targets.Ports
	check, err := hostCheck(tx, j.Host, r.Contest.Local)
	if err != nil {
		return nil, err
	}
	// In the final judging a host that does not answer is a failed run, no refusal. Who made a
	// team of a local contest vouches for its host, which may be no site at all.
	if j.Lane != queue.Final && (check.Way != api.ByStaff || !r.Contest.Local) {
		a.Check = check
	}
	return a, nil
}

// seedOf is the fixed seed of a problem in a lane; "" for one by job.
func seedOf(p *contest.Problem, lane queue.Lane) string {
	s := p.Seed
	if lane == queue.Final {
		s = p.FinalSeed
	}
	if s == "per-job" || s == "secret" { // both are made of the portal's secret and the job
		return ""
	}
	return s
}

// A lease is the value of a key in the bucket of leases.
type lease struct {
	Epoch  int64  `json:"epoch"`
	Handle string `json:"handle"` // digest
	Worker string `json:"worker"`
}

// Beat takes a heartbeat of an attempt. The first one makes the job running; later ones renew
// its lease and, where the lease is lost, restore it from SQL.
func (c *Core) Beat(ctx context.Context, b api.Beat) (api.BeatAnswer, error) {
	answer := api.BeatAnswer{Do: api.Continue, Now: c.Now()}
	known := lease{b.Epoch, Digest(b.Handle), b.Worker}
	var have lease
	value, _, err := c.carry.Get(ctx, carry.Leases, b.Job)
	if err == nil {
		err = json.Unmarshal(value, &have)
	}
	if err != nil && !errors.Is(err, carry.ErrNoKey) {
		return answer, fmt.Errorf("reading the lease of %s: %w", b.Job, err)
	}
	if err != nil || have != known {
		if answer.Do, err = c.confirm(ctx, b.Claimed); err != nil || answer.Do == api.Gone {
			return answer, err
		}
	} else if stop, err := c.stopping(ctx, b.Job); err != nil {
		return answer, err
	} else if stop {
		answer.Do = api.Stop
	}
	if value, err = json.Marshal(known); err != nil {
		return answer, err
	}
	if err := c.carry.Put(ctx, carry.Leases, b.Job, value); err != nil {
		return answer, fmt.Errorf("renewing the lease of %s: %w", b.Job, err)
	}
	c.progress(ctx, b)
	return answer, nil
}

// stopping reports whether a job is to be stopped.
func (c *Core) stopping(ctx context.Context, id string) (stop bool, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Row("SELECT stopping FROM jobs WHERE id = ?", []any{id}, &stop)
	})
	return stop, err
}

// confirm compares an attempt with SQL; an offered job becomes running.
func (c *Core) confirm(ctx context.Context, a api.Claimed) (do string, err error) {
	err = c.store.Write(ctx, "confirm", func(tx *store.Tx) error {
		do = api.Gone
		j, err := readJob(tx, a.Job)
		if errors.Is(err, api.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if j.Epoch != a.Epoch || j.Worker != a.Worker || j.Handle != Digest(a.Handle) {
			return nil
		}
		switch j.State {
		case api.Running:
			do = api.Continue
		case api.Offered:
			do = api.Continue
			j.State, j.Started = api.Running, c.Now()
			j.Attempt++
			if ok, err := j.swap(tx, api.Offered, j.Epoch); err != nil || !ok {
				return join(err, errChanged)
			}
			if err := c.jobEvent(tx, j, 0); err != nil {
				return err
			}
		}
		if j.Stopping && do == api.Continue {
			do = api.Stop
		}
		return nil
	})
	return do, err
}

// join is err, or the other error if there is none.
func join(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// maxProgress bounds a message of progress.
const maxProgress = 4 << 10

// progress passes the progress of a running job on. It may be lost: a heartbeat is not refused
// for it.
func (c *Core) progress(ctx context.Context, b api.Beat) {
	if b.Progress == nil {
		return
	}
	p := *b.Progress
	p.Message = cleaned(p.Message, maxProgress)
	if data, err := json.Marshal(p); err == nil {
		_ = c.carry.Publish(ctx, carry.Progress, carry.Message{Subject: ProgressSubject(b.Job), Data: data})
	}
}

// ProgressSubject is the subject of a job's progress.
func ProgressSubject(job string) string { return "iik.prog.job." + job }

// Register notes a worker. Another boot id of a known worker means that its attempts are
// lost: their jobs are queued again at once.
func (c *Core) Register(ctx context.Context, r api.Register) error {
	var lost []string
	err := c.store.Write(ctx, "register", func(tx *store.Tx) error {
		lost = nil
		boot := ""
		err := tx.Row("SELECT boot FROM workers WHERE id = ?", []any{r.Worker}, &boot)
		kinds, now := "", c.Now()
		for i, k := range r.Kinds {
			if i > 0 {
				kinds += " "
			}
			kinds += k
		}
		switch {
		case errors.Is(err, store.ErrNone):
			_, err = tx.Exec("INSERT INTO workers (id, name, pool, kinds, slots, boot, version, seen, failed, quarantined) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0)",
				r.Worker, cleaned(r.Name, 100), Pool, kinds, r.Slots, r.Boot, cleaned(r.Version, 100), now)
			return err
		case err != nil:
			return err
		}
		if boot != r.Boot {
			jobs, err := readJobs(tx, "WHERE worker = ? AND state IN ('offered', 'running')", r.Worker)
			if err != nil {
				return err
			}
			for _, j := range jobs {
				if err := c.lose(tx, j, "the worker was restarted"); err != nil {
					return err
				}
				lost = append(lost, j.ID)
			}
		}
		_, err = tx.Exec("UPDATE workers SET name = ?, kinds = ?, slots = ?, boot = ?, version = ?, seen = ? WHERE id = ?",
			cleaned(r.Name, 100), kinds, r.Slots, r.Boot, cleaned(r.Version, 100), now, r.Worker)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range lost {
		if err := c.carry.Delete(ctx, carry.Leases, id); err != nil {
			return err
		}
	}
	c.Wake()
	return nil
}

// A waiting is the value of a key in the bucket of workers. The key is WORKER.PROCESS: the slots of a
// worker may wait at several processes of the portal.
type waiting struct {
	Kinds []string  `json:"kinds"`
	Slots int       `json:"slots"` // that wait for a job
	At    time.Time `json:"at"`

	worker string
}

// Waits notes how many slots of a worker wait for a job. A quarantined worker waits for none.
func (c *Core) Waits(ctx context.Context, worker string, kinds []string, slots int) error {
	quarantined := false
	err := c.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Row("SELECT quarantined FROM workers WHERE id = ?", []any{worker}, &quarantined)
	})
	if err != nil {
		return notFound(err)
	}
	if quarantined {
		slots = 0
	}
	value, err := json.Marshal(waiting{Kinds: kinds, Slots: slots, At: c.Now()})
	if err != nil {
		return err
	}
	if err := c.carry.Put(ctx, carry.Workers, worker+"."+c.process, value); err != nil {
		return err
	}
	if slots > 0 {
		c.Wake()
	} else if quarantined {
		return api.ErrForbidden
	}
	return nil
}
