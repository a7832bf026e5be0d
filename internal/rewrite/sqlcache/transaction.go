package sqlcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

var errOptions = errors.New("sqlcache: the driver has no transactions with options")

// Begin implements driver.Conn.
func (k *conn) Begin() (driver.Tx, error) {
	return k.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx implements driver.ConnBeginTx.
func (k *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	var tx driver.Tx
	var err error
	if b, ok := k.base.(driver.ConnBeginTx); ok {
		tx, err = b.BeginTx(ctx, o)
	} else if o != (driver.TxOptions{}) {
		return nil, errOptions
	} else {
		//lint:ignore SA1019 the driver has nothing newer
		tx, err = k.base.Begin()
	}
	if err != nil {
		return nil, err
	}
	k.open, k.private = true, nil
	k.locks = sql.IsolationLevel(o.Isolation) > sql.LevelSnapshot
	return &transaction{tx, k}, nil
}

// A transaction ends the doubt of its writes when its end was answered.
type transaction struct {
	base driver.Tx
	conn *conn
}

func (t *transaction) Commit() error   { return t.end(t.base.Commit()) }
func (t *transaction) Rollback() error { return t.end(t.base.Rollback()) }

func (t *transaction) end(err error) error {
	k := t.conn
	if err != nil && k.cache.plan.plan.Dialect == SQLite && k.inTransaction() {
		k.broken = true // closing the connection ends the transaction
		return err
	}
	if err != nil && len(k.pending) > 0 && !k.answered() {
		k.lose(nil)
		return err
	}
	k.finish()
	return err
}

// inTransaction reports whether a transaction of SQLite is still open after its end has
// failed: a COMMIT that finds the file locked leaves it open. A second BEGIN is refused
// then.
func (k *conn) inTransaction() bool {
	x, ok := k.base.(driver.ExecerContext)
	if !ok {
		return true
	}
	if _, err := x.ExecContext(context.Background(), "BEGIN", nil); err != nil {
		return true
	}
	_, err := x.ExecContext(context.Background(), "ROLLBACK", nil)
	return err != nil
}
