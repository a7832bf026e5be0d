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
	kinds := map[string]string{}
	err = l.store.Read(ctx, func(tx *store.Tx) error {
		offered := 0
		if err := tx.Row("SELECT COUNT(*) FROM jobs WHERE state = 'offered' AND worker = ''", nil, &offered); err != nil {
			return err
		}
		free -= offered
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
		if !take(slots, kinds[j.Round]) {
			continue
		}
		offered, err := l.offer(ctx, j, kinds[j.Round])
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

// take takes a waiting slot that can run a kind.
func take(slots []waiting, kind string) bool {
	for i := range slots {
		if w := &slots[i]; w.Slots > 0 && slices.Contains(w.Kinds, kind) {
			w.Slots--
			return true
		}
	}
	return false
}

// offer makes a job offered and publishes the offer. A lost message is sent again by Scan.
func (l *Leader) offer(ctx context.Context, j *job, kind string) (bool, error) {
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
	return true, l.publish(ctx, j.ID, j.Epoch+1, 1, kind)
}

// publish sends an offer for the nth time.
func (l *Leader) publish(ctx context.Context, job string, epoch int64, nth int64, kind string) error {
	data, err := json.Marshal(offer{job, epoch})
	if err != nil {
		return err
	}
	l.point("before-publish:offer")
	id := job + "/" + strconv.FormatInt(epoch, 10) + "/" + strconv.FormatInt(nth, 10)
	if err := l.carry.Publish(ctx, carry.Tasks, carry.Message{Subject: TaskSubject(kind), ID: id, Data: data}); err != nil {
		return fmt.Errorf("offering job %s: %w", job, err)
	}
	l.point("after-publish:offer")
	return nil
}
