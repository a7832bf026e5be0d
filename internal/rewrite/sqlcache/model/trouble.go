package model

import (
	"context"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// refused reports whether the server answered that the statement had no effect.
// A KILL that comes after the statement's commit replaces its answer by an error.
func refused(err error) bool {
	const interrupted, killed, shutdown = 1317, 1927, 1053
	var file interface{ Code() int }
	if errors.As(err, &file) {
		const busy, locked, constraint = 5, 6, 19 // of SQLite, in the low byte
		code := file.Code() & 0xff
		return code == busy || code == locked || code == constraint
	}
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	return e.Number != interrupted && e.Number != killed && e.Number != shutdown
}

// Slow makes a connector whose connections pause now and then before a
// statement is sent and after it was answered, so that calls meet in every
// order. A share of the writes and commits loses its connection: the caller gets
// an error at once, and the server gets the command later.
func Slow(base driver.Connector, share float64, most time.Duration, lost float64) *SlowConnector {
	return &SlowConnector{Connector: base, share: share, most: most, lost: lost}
}

// A SlowConnector is what Slow makes.
type SlowConnector struct {
	driver.Connector
	share float64
	most  time.Duration
	lost  float64
	late  sync.WaitGroup
}

// Wait returns when the commands of lost connections have ended.
func (s *SlowConnector) Wait() { s.late.Wait() }

func (s *SlowConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &slowConn{baseConn: c.(baseConn), slow: s}, nil
}

func (s *SlowConnector) pause() {
	if rand.Float64() < s.share {
		time.Sleep(rand.N(s.most))
	}
}

// baseConn is what the connections of the drivers can do.
type baseConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type slowConn struct {
	baseConn
	slow *SlowConnector
	late chan struct{} // closed when the late command was answered; nil: there is none
}

func (c *slowConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.baseConn.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	return &slowTx{tx, c}, nil
}

// CheckNamedValue converts an argument as the driver does, if it has a way of its own.
func (c *slowConn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.baseConn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *slowConn) IsValid() bool { return c.late == nil && c.baseConn.IsValid() }

func (c *slowConn) Close() error {
	if c.late != nil {
		go func() {
			<-c.late
			c.baseConn.Close()
		}()
		return nil
	}
	return c.baseConn.Close()
}

type slowTx struct {
	driver.Tx
	conn *slowConn
}

func (t *slowTx) Commit() error {
	t.conn.slow.pause()
	if t.conn.late != nil {
		return mysql.ErrInvalidConn
	}
	if rand.Float64() < commitsLost*t.conn.slow.lost {
		return t.conn.later(func() { _ = t.Tx.Commit() }) // its answer is lost
	}
	return t.Tx.Commit()
}

// commitsLost is how much oftener a COMMIT is lost than a write: there are fewer.
const commitsLost = 6

func (c *slowConn) loses() bool { return rand.Float64() < c.slow.lost }

// later gives the error of a lost connection at once, and has the server
// execute the command after a pause.
func (c *slowConn) later(command func()) error {
	c.late = make(chan struct{})
	c.slow.late.Go(func() {
		time.Sleep(rand.N(5 * time.Millisecond))
		command()
		close(c.late)
	})
	return mysql.ErrInvalidConn
}

// ResetSession keeps a lost connection out of the pool.
func (c *slowConn) ResetSession(ctx context.Context) error {
	if c.late != nil {
		return driver.ErrBadConn
	}
	return c.baseConn.ResetSession(ctx)
}

// Rollback sends nothing through a lost connection.
func (t *slowTx) Rollback() error {
	if t.conn.late != nil {
		return mysql.ErrInvalidConn
	}
	return t.Tx.Rollback()
}

func (c *slowConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.slow.pause()
	if c.late != nil {
		return nil, mysql.ErrInvalidConn
	}
	defer c.slow.pause()
	return c.baseConn.QueryContext(ctx, text, args)
}

func (c *slowConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.slow.pause()
	if c.late != nil {
		return nil, mysql.ErrInvalidConn
	}
	if c.loses() {
		args = slices.Clone(args)
		return nil, c.later(func() { _, _ = c.baseConn.ExecContext(context.Background(), text, args) })
	}
	defer c.slow.pause()
	return c.baseConn.ExecContext(ctx, text, args)
}
