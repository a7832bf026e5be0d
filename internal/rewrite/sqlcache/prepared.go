package sqlcache

import (
	"context"
	"database/sql/driver"
	"sync/atomic"
	"time"
)

// Prepare implements driver.Conn.
func (k *conn) Prepare(text string) (driver.Stmt, error) {
	return k.PrepareContext(context.Background(), text)
}

// PrepareContext implements driver.ConnPrepareContext.
func (k *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	st, begin := k.find(text), time.Now()
	base, err := k.prepareBase(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(st.batches) > 0 { // a part of what the child costs
		atomic.AddInt64(&st.counts.took, int64(time.Since(begin)))
	}
	return &prepared{base, k, st}, nil
}

func (k *conn) prepareBase(ctx context.Context, text string) (driver.Stmt, error) {
	if p, ok := k.base.(driver.ConnPrepareContext); ok {
		return p.PrepareContext(ctx, text)
	}
	return k.base.Prepare(text)
}

// prepared is a prepared statement.
type prepared struct {
	base driver.Stmt
	conn *conn
	stmt *statement
}

func (p *prepared) Close() error  { return p.base.Close() }
func (p *prepared) NumInput() int { return p.base.NumInput() }

// Exec implements driver.Stmt. database/sql calls ExecContext.
func (p *prepared) Exec(args []driver.Value) (driver.Result, error) {
	return p.ExecContext(context.Background(), named(args))
}

// Query implements driver.Stmt. database/sql calls QueryContext.
func (p *prepared) Query(args []driver.Value) (driver.Rows, error) {
	return p.QueryContext(context.Background(), named(args))
}

// ExecContext implements driver.StmtExecContext.
func (p *prepared) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return p.conn.exec(p.stmt, args, func() (driver.Result, error) {
		if x, ok := p.base.(driver.StmtExecContext); ok {
			return x.ExecContext(ctx, args)
		}
		//lint:ignore SA1019 the driver has nothing newer
		return p.base.Exec(plain(args))
	})
}

// QueryContext implements driver.StmtQueryContext.
func (p *prepared) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return p.conn.query(ctx, p.stmt, args, true, func() (driver.Rows, error) {
		if q, ok := p.base.(driver.StmtQueryContext); ok {
			return q.QueryContext(ctx, args)
		}
		//lint:ignore SA1019 the driver has nothing newer
		return p.base.Query(plain(args))
	})
}

// CheckNamedValue implements driver.NamedValueChecker.
func (p *prepared) CheckNamedValue(v *driver.NamedValue) error {
	if c, ok := p.base.(driver.NamedValueChecker); ok {
		return c.CheckNamedValue(v)
	}
	return p.conn.CheckNamedValue(v)
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, v := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out
}

func plain(args []driver.NamedValue) []driver.Value {
	out := make([]driver.Value, len(args))
	for i, a := range args {
		out[i] = a.Value
	}
	return out
}
