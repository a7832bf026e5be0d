package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// kept is how many waits and run lengths the medians are of.
const kept = 101

// lastHalfHour of a live round starts no job of a lower lane.
const lastHalfHour = 30 * time.Minute

// Dispatch offers jobs to waiting slots, at most one to each, and returns how many.
func (l *Leader) Dispatch(ctx context.Context) (int, error) {
	slots, err := l.slots(ctx)
	if err != nil || len(slots) == 0 {
		return 0, err
	}
	free := 0
	for _, w := range slots {
		free += w.Slots
	}
	var state *queue.State
	var jobs map[string]*job
	kinds, alive := map[string]string{}, map[string]bool{}
	for _, w := range slots {
		alive[w.worker] = true
	}
	err = l.store.Read(ctx, func(tx *store.Tx) error {
		offered := 0
		if err := tx.Row("SELECT COUNT(*) FROM jobs WHERE state = 'offered' AND worker = ''", nil, &offered); err != nil {
			return err
		}
		free -= offered
		err := tx.Each("SELECT worker FROM jobs WHERE state IN ('offered', 'running')", nil, func(scan func(...any) error) error {
			id := ""
			err := scan(&id)
			alive[id] = true
			return err
		})
		if err != nil {
			return err
		}
		state, jobs, err = l.waiting(tx, kinds)
		return err
	})
	if err != nil || free <= 0 {
		return 0, err
	}
	n := 0
	for _, pick := range l.order(state) {
		if n >= free {
			break
		}
		j := jobs[pick.ID]
		pin := l.pinOf(j, alive)
		if !take(slots, kinds[j.Round], pin) {
			continue
		}
		offered, err := l.offer(ctx, j, subjectOf(kinds[j.Round], pin))
		if err != nil {
			return n, err
		}
		if offered {
			n++
			l.started(state, pick)
		}
	}
	return n, nil
}

// patience is how long a planned run waits for its worker, which may be busy or between two
// requests, before it is given to any other one.
const patience = time.Minute

// pinOf is the worker that a job waits for: that of the plan, unless it is gone or has lost the job
// already. "" is any.
func (c *Core) pinOf(j *job, alive map[string]bool) string {
	if j.Lost > 0 || !alive[j.Pin] && c.Now().Sub(j.Enqueued) > c.span(patience) {
		return ""
	}
	return j.Pin
}

// subjectOf is where a job is offered: to all workers, or to one.
func subjectOf(kind, pin string) string {
	if pin == "" {
		return TaskSubject(kind)
	}
	return PinnedSubject(pin)
}

// take takes a waiting slot that can run a kind; of the worker pin, if it is given.
func take(slots []waiting, kind, pin string) bool {
	for i := range slots {
		if w := &slots[i]; w.Slots > 0 && slices.Contains(w.Kinds, kind) && (pin == "" || pin == w.worker) {
			w.Slots--
			return true
		}
	}
	return false
}

// offer makes a job offered and publishes the offer. A lost message is sent again by Scan.
func (l *Leader) offer(ctx context.Context, j *job, subject string) (bool, error) {
	ok := false
	err := l.write(ctx, "offer", func(tx *store.Tx) (err error) {
		epoch := j.Epoch
		next := *j
		next.State, next.Epoch, next.Offered, next.Sent = api.Offered, epoch+1, l.Now(), l.Now()
		ok, err = next.swap(tx, api.Queued, epoch)
		return err
	})
	if err != nil || !ok {
		return false, err
	}
	return true, l.publish(ctx, j.ID, j.Epoch+1, 1, subject)
}

// publish sends an offer for the nth time.
func (l *Leader) publish(ctx context.Context, job string, epoch int64, nth int64, subject string) error {
	data, err := json.Marshal(offer{job, epoch})
	if err != nil {
		return err
	}
	l.point("before-publish:offer")
	id := job + "/" + strconv.FormatInt(epoch, 10) + "/" + strconv.FormatInt(nth, 10)
	if err := l.carry.Publish(ctx, carry.Tasks, carry.Message{Subject: subject, ID: id, Data: data}); err != nil {
		return fmt.Errorf("offering job %s: %w", job, err)
	}
	l.point("after-publish:offer")
	return nil
}
