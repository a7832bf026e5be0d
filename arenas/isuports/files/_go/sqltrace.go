package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// tracedDriver is the name of the driver that writes a trace.
const tracedDriver = "sqlite-with-trace"

// openTrace returns the name of the SQLite driver to use. With
// ISUCON_SQLITE_TRACE_FILE, each statement is a line of JSON in that file.
func openTrace() (string, error) {
	path := os.Getenv("ISUCON_SQLITE_TRACE_FILE")
	if path == "" {
		return sqliteDriver, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return "", err
	}
	sql.Register(tracedDriver, &traceDriver{file: file})
	return tracedDriver, nil
}

// A traceDriver opens connections that write a trace.
type traceDriver struct {
	sqlite.Driver
	mu   sync.Mutex
	file *os.File
}

// tracedConn is what the connections of the SQLite driver can do.
type tracedConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// Open opens a connection.
func (d *traceDriver) Open(name string) (driver.Conn, error) {
	conn, err := d.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	full, ok := conn.(tracedConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("connections of type %T cannot be traced", conn), conn.Close())
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(name, "file:"), "?")
	return &traceConn{full, d, path}, nil
}

// A traceLine is a line of the trace.
type traceLine struct {
	Time      string  `json:"time"` // of the end
	Statement string  `json:"statement"`
	Args      []any   `json:"args"`
	QueryTime float64 `json:"query_time"` // seconds within SQLite, with the reading of the rows
	Affected  int64   `json:"affected_rows"`
	Rows      int64   `json:"rows"`
	DB        string  `json:"db"`
	Error     string  `json:"error,omitempty"`
}

// write adds a line. A trace that cannot be written is incomplete: the app goes on.
func (d *traceDriver) write(line traceLine, err error) {
	line.Time = time.Now().Format(time.RFC3339Nano)
	if err != nil {
		line.Error = err.Error()
	}
	text, err := json.Marshal(line)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, _ = d.file.Write(append(text, '\n'))
}

// A traceConn is a connection that writes a trace.
type traceConn struct {
	tracedConn
	driver *traceDriver
	file   string // the database's
}

func (c *traceConn) line(query string, args []driver.NamedValue) traceLine {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a.Value
	}
	return traceLine{Statement: query, Args: values, DB: c.file}
}

// ExecContext executes a statement without rows.
func (c *traceConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	line, began := c.line(query, args), time.Now()
	result, err := c.tracedConn.ExecContext(ctx, query, args)
	c.driver.executed(line, began, result, err)
	return result, err
}

// executed writes the line of a statement without rows.
func (d *traceDriver) executed(line traceLine, began time.Time, result driver.Result, err error) {
	line.QueryTime = time.Since(began).Seconds()
	if err == nil {
		line.Affected, err = result.RowsAffected()
	}
	d.write(line, err)
}

// QueryContext executes a statement with rows.
func (c *traceConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	line, began := c.line(query, args), time.Now()
	rows, err := c.tracedConn.QueryContext(ctx, query, args)
	return c.driver.queried(line, began, rows, err)
}

// queried returns rows whose line is written when they are closed.
func (d *traceDriver) queried(line traceLine, began time.Time, rows driver.Rows, err error) (driver.Rows, error) {
	line.QueryTime = time.Since(began).Seconds()
	if err != nil {
		d.write(line, err)
		return nil, err
	}
	return &traceRows{rows, d, line}, nil
}

// PrepareContext prepares a statement whose executions are traced.
func (c *traceConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.tracedConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	full, ok := stmt.(tracedStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("statements of type %T cannot be traced", stmt), stmt.Close())
	}
	return &traceStmt{full, c, query}, nil
}

// tracedStmt is what the statements of the SQLite driver can do.
type tracedStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A traceStmt is a prepared statement that writes a trace.
type traceStmt struct {
	tracedStmt
	conn  *traceConn
	query string
}

// ExecContext executes a statement without rows.
func (s *traceStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	line, began := s.conn.line(s.query, args), time.Now()
	result, err := s.tracedStmt.ExecContext(ctx, args)
	s.conn.driver.executed(line, began, result, err)
	return result, err
}

// QueryContext executes a statement with rows.
func (s *traceStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	line, began := s.conn.line(s.query, args), time.Now()
	rows, err := s.tracedStmt.QueryContext(ctx, args)
	return s.conn.driver.queried(line, began, rows, err)
}

// traceRows count rows and their time.
type traceRows struct {
	driver.Rows
	driver *traceDriver
	line   traceLine
}

// Next reads a row.
func (r *traceRows) Next(dest []driver.Value) error {
	began := time.Now()
	err := r.Rows.Next(dest)
	r.line.QueryTime += time.Since(began).Seconds()
	if err == nil {
		r.line.Rows++
	}
	return err
}

// Close ends the statement.
func (r *traceRows) Close() error {
	err := r.Rows.Close()
	r.driver.write(r.line, err)
	return err
}
