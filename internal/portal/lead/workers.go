package lead

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// quietWorker is how long a worker may be silent: one that waits is noted each 10 s, one that runs a
// job has a lease.
const quietWorker = time.Minute

// Workers lists the workers with how many jobs each has, and when it was heard of.
func (c *Core) Workers(ctx context.Context) (out []api.Worker, err error) {
	heard, err := c.heard(ctx)
	if err != nil {
		return nil, err
	}
	now := c.Now()
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT w.id, w.name, w.pool, w.kinds, w.slots, w.version, w.seen, w.quarantined, (SELECT COUNT(*) FROM jobs j WHERE j.worker = w.id AND j.state IN ('offered', 'running')) FROM workers w ORDER BY w.name, w.id",
			nil, func(scan func(...any) error) error {
				w, kinds := api.Worker{}, ""
				err := scan(&w.ID, &w.Name, &w.Pool, &kinds, &w.Slots, &w.Version, &w.Seen, &w.Quarantined, &w.Busy)
				w.Kinds = strings.Fields(kinds)
				if at := heard[w.ID]; at.After(w.Seen) {
					w.Seen = at
				}
				w.Gone = now.Sub(w.Seen) > quietWorker
				out = append(out, w)
				return err
			})
	})
	return out, err
}

// heard is when workers were last heard of, as far as what may be lost tells. The database has when
// they registered.
func (c *Core) heard(ctx context.Context) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	if c.carry == nil {
		return out, nil
	}
	leases, err := c.carry.List(ctx, carry.Leases)
	if err != nil {
		return nil, err
	}
	slots, err := c.carry.List(ctx, carry.Workers)
	if err != nil {
		return nil, err
	}
	for key, value := range slots {
		var w waiting
		if id := workerOf(key); json.Unmarshal(value, &w) == nil && w.At.After(out[id]) {
			out[id] = w.At
		}
	}
	for _, value := range leases {
		var l lease
		if json.Unmarshal(value, &l) == nil {
			out[l.Worker] = c.Now() // it expires 20 s after a heartbeat
		}
	}
	return out, nil
}

// Hold gives a worker no more jobs, or lets it work again; what it runs goes on.
func (c *Core) Hold(ctx context.Context, who, worker string, hold bool, reason string) error {
	reason = cleaned(strings.TrimSpace(reason), 300)
	if reason == "" {
		return refused("reason", "an act on a worker has a reason")
	}
	what := "worker release"
	if hold {
		what = "worker hold"
	}
	err := c.store.Write(ctx, "hold", func(tx *store.Tx) error {
		n, err := tx.Exec("UPDATE workers SET quarantined = ?, failed = '' WHERE id = ?", hold, worker)
		if err != nil {
			return err
		}
		if n == 0 {
			return api.ErrNotFound
		}
		return c.audit(tx, who, what, worker+": "+reason)
	})
	if err == nil {
		c.Wake()
	}
	return err
}
