package lead

import (
	"context"
	"errors"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// Timers moves rounds whose time has come, and ends jobs that wait in rounds that are over.
func (l *Leader) Timers(ctx context.Context) error {
	ids, err := l.RoundIDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := l.Round(ctx, id)
		if err != nil {
			return err
		}
		now := l.Now()
		if to := contest.ByTime(r.Clock, r.State, now); to != r.State {
			err := l.write(ctx, "timer", func(tx *store.Tx) error { return l.move(tx, "", r, to) })
			if refusal := (*api.RefusedError)(nil); errors.As(err, &refusal) {
				continue // another act came first: the next tick looks again
			}
			if err != nil {
				return err
			}
		}
		if end := r.Clock.LastEnd(); r.State == contest.Ended && now.After(end.Add(r.Round.Rules.Tail)) {
			if err := l.tooLate(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// tooLate ends the jobs of a round that wait after the end and its tail.
func (l *Leader) tooLate(ctx context.Context, r *Round) error {
	var jobs []*job
	err := l.store.Read(ctx, func(tx *store.Tx) (err error) {
		jobs, err = readJobs(tx, "WHERE round = ? AND state = 'queued' AND lane IN ('live', 'practice')", r.ID)
		return err
	})
	if err != nil {
		return err
	}
	for _, j := range jobs {
		err := l.write(ctx, "too-late", func(tx *store.Tx) error {
			j.Charged, j.Says = false, "not run before the end of the round; not charged"
			if err := j.close(tx, api.Cancelled, l.Now()); err != nil {
				return err
			}
			return l.jobEvent(tx, j, 0)
		})
		if err != nil && !errors.Is(err, errChanged) {
			return err
		}
	}
	return nil
}
