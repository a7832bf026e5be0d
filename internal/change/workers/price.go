package workers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/appserver"
)

const (
	// reservedConnections must stay free in a database, for administrators.
	reservedConnections = 5
	// reservedShare of the memory stays available: page cache, and growth of what runs.
	reservedShare = 0.1
)

// affordable checks what further processes and threads take.
func (t *task) affordable(ctx context.Context) error {
	if err := t.memory(); err != nil {
		return err
	}
	return t.connections(ctx)
}

// memory checks the memory of further processes: each is expected to take as much as
// the largest one does now.
func (t *task) memory() error {
	more := t.want.Workers - t.setup.Serves
	if more <= 0 {
		return nil
	}
	free, total, err := appserver.Available(t.h)
	if err != nil {
		return err
	}
	reserve := int64(reservedShare * float64(total))
	if t.setup.Private > 0 && int64(more) > max(0, free-reserve)/t.setup.Private {
		return &MemoryError{more, iikanji.Bytes(t.setup.Private), iikanji.Bytes(free), iikanji.Bytes(reserve)}
	}
	return nil
}

// connections checks max_connections of the site's databases, with one connection for
// each thread.
func (t *task) connections(ctx context.Context) error {
	workers, threads := max(t.setup.Serves, 1), max(t.setup.Threads.Now, 1)
	now := workers * threads
	if t.want.Workers > 0 {
		workers = t.want.Workers
	}
	if t.want.Threads > 0 {
		threads = t.want.Threads
	}
	if workers*threads <= now {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.site.Services)) {
		db := t.site.Services[name].DB()
		if db == nil {
			continue
		}
		var most int
		if err := db.QueryRowContext(ctx, "SELECT @@GLOBAL.max_connections").Scan(&most); err != nil {
			return fmt.Errorf("reading max_connections of %s: %w", name, err)
		}
		if workers*threads > most-reservedConnections {
			return &ConnectionsError{name, workers * threads, most}
		}
	}
	return nil
}
