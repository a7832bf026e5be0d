package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// While a statement waits for the exclusive lock of a table, all statements after
// it wait, too: behind one long SELECT the whole site would stop. So it waits for
// lockWait only, lets the others run for lockRest, and tries again, for
// lockPatience and lockTries at least.
const (
	lockWait     = 5 * time.Second
	lockRest     = time.Second
	lockPatience = 2 * time.Minute
	lockTries    = 3
)

// A heldTable is a table that a connection locks exclusively.
type heldTable struct {
	conn *sql.Conn
	name string // quoted
}

// bound limits each wait for the lock. The server's default is a day.
func (t *heldTable) bound(ctx context.Context) error {
	_, err := t.conn.ExecContext(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", int(lockWait.Seconds())))
	return err
}

// unbound restores the connection's own limit before it returns to its pool. If
// that fails, the connection is broken, and the pool drops it.
func (t *heldTable) unbound(ctx context.Context) {
	_, _ = t.conn.ExecContext(context.WithoutCancel(ctx), "SET SESSION lock_wait_timeout = DEFAULT")
}

// lock waits for the exclusive lock of the table.
func (t *heldTable) lock(ctx context.Context) error {
	return t.patiently(ctx, func() error {
		if _, err := t.conn.ExecContext(ctx, "LOCK TABLES "+t.name+" WRITE"); err != nil {
			return err
		}
		_, err := t.conn.ExecContext(ctx, "UNLOCK TABLES")
		return err
	})
}

// patiently runs a function that needs the table, and repeats it while the lock
// times out. A statement that timed out has had no effect. The time of an ALTER
// TABLE of iikanji that still runs because its client was killed is not counted.
func (t *heldTable) patiently(ctx context.Context, do func() error) error {
	began := time.Now()
	for try := 1; ; try++ {
		err := do()
		var refused *mysql.MySQLError
		if !errors.As(err, &refused) || refused.Number != lockTimeout {
			return err
		}
		if try >= lockTries && time.Since(began) >= lockPatience {
			if running, e := t.beingAltered(ctx); e != nil || !running {
				return errors.Join(fmt.Errorf("other connections have held it for %s: %w", time.Since(began).Round(time.Second), err), e)
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(lockRest):
		}
	}
}

// beingAltered reports whether an ALTER TABLE as iikanji writes it runs on the
// table.
func (t *heldTable) beingAltered(ctx context.Context) (bool, error) {
	var n int
	err := t.conn.QueryRowContext(ctx, "SELECT count(*) FROM information_schema.PROCESSLIST WHERE ID <> connection_id() AND locate(?, INFO) = 1",
		"ALTER TABLE "+t.name+" ").Scan(&n)
	if err != nil {
		return false, fmt.Errorf("checking which connection holds it: %w", err)
	}
	return n > 0, nil
}
