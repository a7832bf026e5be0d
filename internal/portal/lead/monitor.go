package lead

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/store"
)

var _ api.Monitor = (*Core)(nil)

// Ready implements api.Monitor: the database answers, and there is a leader.
func (c *Core) Ready(ctx context.Context) error {
	term := int64(0)
	if err := c.store.Read(ctx, func(tx *store.Tx) error { return tx.Row("SELECT term FROM leader_term WHERE id = 1", nil, &term) }); err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	if _, _, err := c.carry.Get(ctx, carry.Leader, "leader"); err != nil {
		return fmt.Errorf("there is no leader: %w", err)
	}
	return nil
}

// Gauges implements api.Monitor.
func (c *Core) Gauges(ctx context.Context) (out []api.Gauge, err error) {
	now := c.Now()
	add := func(name, help string, value float64, labels ...string) {
		out = append(out, api.Gauge{Name: "iikanji_portal_" + name, Help: help, Labels: labels, Value: value})
	}
	workers, err := c.Workers(ctx)
	if err != nil {
		return nil, err
	}
	states, slots := map[string]float64{"here": 0, "gone": 0, "held": 0}, 0.0
	for _, w := range workers {
		switch {
		case w.Quarantined:
			states["held"]++
		case w.Gone:
			states["gone"]++
		default:
			states["here"]++
			slots += float64(w.Slots)
		}
	}
	for _, state := range []string{"here", "gone", "held"} {
		add("workers", "Workers.", states[state], "state", state)
	}
	add("slots", "Slots of workers that are here.", slots)
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		err := tx.Each("SELECT round, state, COUNT(*), MIN(enqueued) FROM jobs WHERE state IN ('queued', 'offered', 'running') GROUP BY round, state", nil, func(scan func(...any) error) error {
			round, state, n, first := "", "", 0.0, time.Time{}
			if err := scan(&round, &state, &n, &first); err != nil {
				return err
			}
			add("jobs", "Runs that are not over.", n, "round", round, "state", state)
			add("job_age_seconds", "Age of the oldest run that is not over.", now.Sub(first).Seconds(), "round", round, "state", state)
			return nil
		})
		if err != nil {
			return err
		}
		open, undelivered := 0.0, 0.0
		err = errors.Join(
			tx.Row("SELECT COUNT(*) FROM messages q WHERE q.kind = 'question' AND NOT EXISTS (SELECT 1 FROM messages a WHERE a.reply = q.id)", nil, &open),
			tx.Row("SELECT COUNT(*) FROM deliveries WHERE state = 'dead' OR state = 'due' AND tries > 1", nil, &undelivered),
		)
		add("questions_open", "Questions without an answer.", open)
		add("undelivered", "Notices that have not arrived.", undelivered)
		return err
	})
	return out, err
}
