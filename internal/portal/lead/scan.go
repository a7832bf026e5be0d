package lead

import (
	"context"
	"errors"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/store"
)

const (
	// againAfter sends an offer again that nobody claimed.
	againAfter = 5 * time.Second
	// unconfirmed is how long a claimed job may wait for its first heartbeat before
	// another slot gets it.
	unconfirmed = 10 * time.Second
	// backAfter puts an offered job back into the queue.
	backAfter = 30 * time.Second
	// overdue is how long after its time-out a running job is lost whatever its worker
	// says.
	overdue = 30 * time.Second
)

// Scan looks for attempts that are lost and offers that were not taken.
func (l *Leader) Scan(ctx context.Context) error {
	var jobs []*job
	kinds, limits := map[string]string{}, map[string]time.Duration{}
	err := l.store.Read(ctx, func(tx *store.Tx) (err error) {
		if jobs, err = readJobs(tx, "WHERE state IN ('offered', 'running')"); err != nil {
			return err
		}
		for _, j := range jobs {
			r, err := l.round(tx, j.Round)
			if err != nil {
				return err
			}
			kinds[j.Round], limits[j.Round] = kindOf(r), r.Problem().Timeout
		}
		return nil
	})
	if err != nil {
		return err
	}
	leases, err := l.carry.List(ctx, carry.Leases)
	if err != nil {
		return err
	}
	slots, err := l.slots(ctx)
	if err != nil {
		return err
	}
	now, workers := l.Now(), map[string]bool{}
	for _, w := range slots {
		workers[w.worker] = true
	}
	for _, j := range jobs {
		_, alive := leases[j.ID]
		switch {
		case j.State == api.Offered:
			err = l.scanOffer(ctx, j, now, kinds[j.Round], workers)
		case now.Sub(j.Started) > limits[j.Round]+l.span(overdue):
			err = l.judge(ctx, j, "it took longer than its time-out")
		case !alive && now.Sub(l.since) > l.span(grace) && now.Sub(j.Started) > l.span(carry.LeaseTTL):
			err = l.judge(ctx, j, "its worker was lost")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// judge ends an attempt that is lost.
func (l *Leader) judge(ctx context.Context, j *job, why string) error {
	// A lease may have been renewed since it was listed: look again before the judgement.
	if _, _, err := l.carry.Get(ctx, carry.Leases, j.ID); err == nil && why == "its worker was lost" {
		return nil
	}
	err := l.write(ctx, "lose", func(tx *store.Tx) error { return l.lose(tx, j, why) })
	if errors.Is(err, errChanged) {
		return nil // it was finished in the meantime
	}
	if err != nil {
		return err
	}
	return l.carry.Delete(ctx, carry.Leases, j.ID)
}

// scanOffer sends an offer again, gives it to another slot, or takes it back.
func (l *Leader) scanOffer(ctx context.Context, j *job, now time.Time, kind string, alive map[string]bool) error {
	claimed := j.Worker != ""
	switch {
	case now.Sub(j.Offered) >= l.span(backAfter), claimed && now.Sub(j.Claimed) >= l.span(unconfirmed):
		err := l.write(ctx, "unoffer", func(tx *store.Tx) error {
			again := j.Again
			if err := j.requeue(tx, "unconfirmed", now); err != nil {
				return err
			}
			if !again { // it did not run: it has no right to go first
				_, err := tx.Exec("UPDATE jobs SET again = 0 WHERE id = ?", j.ID)
				return err
			}
			return nil
		})
		if errors.Is(err, errChanged) {
			return nil
		}
		return err
	case !claimed && now.Sub(j.Sent) >= l.span(againAfter):
		err := l.write(ctx, "resend", func(tx *store.Tx) error {
			_, err := tx.Exec("UPDATE jobs SET sent = ? WHERE id = ? AND epoch = ? AND state = 'offered' AND worker = ''", now, j.ID, j.Epoch)
			return err
		})
		if err != nil {
			return err
		}
		return l.publish(ctx, j.ID, j.Epoch, 1+int64(now.Sub(j.Offered)/l.span(againAfter)), subjectOf(kind, l.pinOf(j, alive)))
	}
	return nil
}
