package lead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/store"
)

const (
	renewEvery = 3 * time.Second // of the leader's key
	scanEvery  = 2 * time.Second
	// grace is how long a new leader judges no lease: leases may have been lost with the
	// carrier.
	grace = carry.LeaseTTL
)

// A Leader has the acts of the one leader. It is used by one goroutine.
type Leader struct {
	*Core
	id     string
	term   int64
	since  time.Time // of this leader
	log    *slog.Logger
	folded map[string]int64 // number of the last event that was learned, by round
}

// errNotLeader is a leader that another one replaced.
var errNotLeader = errors.New("another leader was elected")

// Elect makes this process the leader of a new term.
func (c *Core) Elect(ctx context.Context, log *slog.Logger) (*Leader, error) {
	l := &Leader{Core: c, id: c.newID(), since: c.Now(), log: log, folded: map[string]int64{}}
	err := c.store.Write(ctx, "elect", func(tx *store.Tx) error {
		if _, err := tx.Exec("UPDATE leader_term SET term = term + 1 WHERE id = 1"); err != nil {
			return err
		}
		return tx.Row("SELECT term FROM leader_term WHERE id = 1", nil, &l.term)
	})
	return l, err
}

// write runs a transaction of the leader. It locks and compares the term first: a leader that
// was paused and replaced writes nothing.
func (l *Leader) write(ctx context.Context, name string, do func(*store.Tx) error) error {
	return l.store.Write(ctx, name, func(tx *store.Tx) error {
		n, err := tx.Exec("UPDATE leader_term SET term = ? WHERE id = 1 AND term = ?", l.term, l.term)
		if err != nil {
			return err
		}
		if n == 0 {
			return errNotLeader
		}
		return do(tx)
	})
}

// Lead elects a leader whenever there is none and does its work, until ctx ends.
func (c *Core) Lead(ctx context.Context, log *slog.Logger) {
	id := c.newID()
	for ctx.Err() == nil {
		revision, err := c.carry.Swap(ctx, carry.Leader, "leader", []byte(id), 0)
		if err == nil {
			err = c.reign(ctx, log, id, revision)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, carry.ErrNoKey) {
			log.Warn("the leader's work ended", "error", err)
		}
		pause(ctx, c.span(time.Second), nil)
	}
}

// pause waits, or until it is woken, or ctx ends.
func pause(ctx context.Context, d time.Duration, woken <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-ctx.Done():
	}
}

// reign does the leader's work while its key is its own.
func (c *Core) reign(ctx context.Context, log *slog.Logger, id string, revision uint64) error {
	l, err := c.Elect(ctx, log)
	if err != nil {
		return err
	}
	renewed, scanned := time.Now(), time.Time{} // durations of this process: monotonic
	for ctx.Err() == nil {
		if time.Since(renewed) >= c.span(renewEvery) {
			if revision, err = c.carry.Swap(ctx, carry.Leader, "leader", []byte(id), revision); err != nil {
				return fmt.Errorf("renewing the leader's key: %w", err)
			}
			renewed = time.Now()
		}
		if err := l.Tick(ctx, time.Since(scanned) >= c.span(scanEvery)); err != nil {
			return err
		}
		if time.Since(scanned) >= c.span(scanEvery) {
			scanned = time.Now()
		}
		pause(ctx, c.span(500*time.Millisecond), c.woken)
	}
	// A portal that ends gives its key back: the next one need not wait for it to expire.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return c.carry.Delete(end, carry.Leader, "leader")
}

// Tick does what is due: timers, lost leases if scan is set, the outbox, and offers.
func (l *Leader) Tick(ctx context.Context, scan bool) error {
	if scan {
		if err := l.Timers(ctx); err != nil {
			return err
		}
		if err := l.Scan(ctx); err != nil {
			return err
		}
	}
	if err := l.Relay(ctx); err != nil {
		return err
	}
	_, err := l.Dispatch(ctx)
	return err
}

// workerOf is the worker of a key in the bucket of workers.
func workerOf(key string) string {
	worker, _, _ := strings.Cut(key, ".")
	return worker
}

// slots are the waiting slots by worker and process.
func (c *Core) slots(ctx context.Context) ([]waiting, error) {
	values, err := c.carry.List(ctx, carry.Workers)
	if err != nil {
		return nil, err
	}
	var out []waiting
	for key, value := range values {
		w := waiting{worker: workerOf(key)}
		if err := json.Unmarshal(value, &w); err == nil && w.Slots > 0 {
			out = append(out, w)
		}
	}
	return out, nil
}
