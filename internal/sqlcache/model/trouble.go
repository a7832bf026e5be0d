package model

import (
	"context"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/go-sql-driver/mysql"
)

// refused reports whether the server answered that the statement had no effect.
// A KILL that comes after the statement's commit replaces its answer by an error.
func refused(err error) bool {
	const interrupted, killed, shutdown = 1317, 1927, 1053
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	return e.Number != interrupted && e.Number != killed && e.Number != shutdown
}

// Slow makes a connector whose connections pause now and then before a
// statement is sent and after it was answered, so that calls meet in every
// order. A share of the commits loses its connection: the caller gets an error
// at once, and the server gets the COMMIT later.
func Slow(base driver.Connector, share float64, most time.Duration, lost float64) driver.Connector {
	return &slowConnector{base, share, most, lost}
}

type slowConnector struct {
	driver.Connector
	share float64
	most  time.Duration
	lost  float64
}

func (s *slowConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &slowConn{mysqlConn: c.(mysqlConn), slow: s}, nil
}

func (s *slowConnector) pause() {
	if rand.Float64() < s.share {
		time.Sleep(rand.N(s.most))
	}
}

// mysqlConn is what the driver's connections can do.
type mysqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type slowConn struct {
	mysqlConn
	slow *slowConnector
	late chan struct{} // closed when the late COMMIT was answered; nil: there is none
}

func (c *slowConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.mysqlConn.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	return &slowTx{tx, c}, nil
}

func (c *slowConn) IsValid() bool { return c.late == nil && c.mysqlConn.IsValid() }

func (c *slowConn) Close() error {
	if c.late != nil {
		go func() {
			<-c.late
			c.mysqlConn.Close()
		}()
		return nil
	}
	return c.mysqlConn.Close()
}

type slowTx struct {
	driver.Tx
	conn *slowConn
}

func (t *slowTx) Commit() error {
	c := t.conn
	c.slow.pause()
	if rand.Float64() >= c.slow.lost {
		return t.Tx.Commit()
	}
	c.late = make(chan struct{})
	go func() {
		time.Sleep(rand.N(5 * time.Millisecond))
		_ = t.Tx.Commit() // its answer reaches nobody
		close(c.late)
	}()
	return mysql.ErrInvalidConn
}

func (c *slowConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.slow.pause()
	defer c.slow.pause()
	return c.mysqlConn.QueryContext(ctx, text, args)
}

func (c *slowConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.slow.pause()
	defer c.slow.pause()
	return c.mysqlConn.ExecContext(ctx, text, args)
}
