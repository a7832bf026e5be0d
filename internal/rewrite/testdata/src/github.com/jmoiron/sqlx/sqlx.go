// Package sqlx has the signatures of sqlx, for tests.
package sqlx

import (
	"context"
	"database/sql"
)

type DB struct{ *sql.DB }
type Tx struct{ *sql.Tx }
type Conn struct{ *sql.Conn }
type Stmt struct{ *sql.Stmt }
type NamedStmt struct{ Stmt *Stmt }
type Rows struct{ *sql.Rows }
type Row struct{}

type Queryer interface {
	Query(query string, args ...interface{}) (*sql.Rows, error)
	Queryx(query string, args ...interface{}) (*Rows, error)
	QueryRowx(query string, args ...interface{}) *Row
}
type QueryerContext interface {
	QueryContext(ctx context.Context, query string, args ...interface{}) (*sql.Rows, error)
	QueryxContext(ctx context.Context, query string, args ...interface{}) (*Rows, error)
	QueryRowxContext(ctx context.Context, query string, args ...interface{}) *Row
}
type Execer interface {
	Exec(query string, args ...interface{}) (sql.Result, error)
}
type Ext interface {
	Queryer
	Execer
}

type ExecerContext interface {
	ExecContext(ctx context.Context, query string, args ...interface{}) (sql.Result, error)
}
type ExtContext interface {
	QueryerContext
	ExecerContext
}

func Open(driver, dsn string) (*DB, error)    { return nil, nil }
func Connect(driver, dsn string) (*DB, error) { return nil, nil }

func Get(q Queryer, dest interface{}, query string, args ...interface{}) error    { return nil }
func Select(q Queryer, dest interface{}, query string, args ...interface{}) error { return nil }
func GetContext(ctx context.Context, q QueryerContext, dest interface{}, query string, args ...interface{}) error {
	return nil
}
func SelectContext(ctx context.Context, q QueryerContext, dest interface{}, query string, args ...interface{}) error {
	return nil
}
func In(query string, args ...interface{}) (string, []interface{}, error) { return "", nil, nil }
func Named(query string, arg interface{}) (string, []interface{}, error)  { return "", nil, nil }

func (db *DB) Beginx() (*Tx, error)                                             { return nil, nil }
func (db *DB) MustBegin() *Tx                                                   { return nil }
func (db *DB) BeginTxx(ctx context.Context, opts *sql.TxOptions) (*Tx, error)   { return nil, nil }
func (db *DB) Get(dest interface{}, query string, args ...interface{}) error    { return nil }
func (db *DB) Select(dest interface{}, query string, args ...interface{}) error { return nil }
func (db *DB) GetContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error {
	return nil
}
func (db *DB) SelectContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error {
	return nil
}
func (db *DB) Queryx(query string, args ...interface{}) (*Rows, error) { return nil, nil }
func (db *DB) QueryxContext(ctx context.Context, query string, args ...interface{}) (*Rows, error) {
	return nil, nil
}
func (db *DB) QueryRowx(query string, args ...interface{}) *Row { return nil }
func (db *DB) QueryRowxContext(ctx context.Context, query string, args ...interface{}) *Row {
	return nil
}
func (db *DB) NamedExec(query string, arg interface{}) (sql.Result, error) { return nil, nil }
func (db *DB) NamedExecContext(ctx context.Context, query string, arg interface{}) (sql.Result, error) {
	return nil, nil
}
func (db *DB) NamedQuery(query string, arg interface{}) (*Rows, error)      { return nil, nil }
func (db *DB) MustExec(query string, args ...interface{}) sql.Result        { return nil }
func (db *DB) Preparex(query string) (*Stmt, error)                         { return nil, nil }
func (db *DB) PreparexContext(ctx context.Context, q string) (*Stmt, error) { return nil, nil }
func (db *DB) PrepareNamed(query string) (*NamedStmt, error)                { return nil, nil }
func (db *DB) Rebind(query string) string                                   { return query }

func (tx *Tx) Get(dest interface{}, query string, args ...interface{}) error    { return nil }
func (tx *Tx) Select(dest interface{}, query string, args ...interface{}) error { return nil }
func (tx *Tx) GetContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error {
	return nil
}
func (tx *Tx) SelectContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error {
	return nil
}
func (tx *Tx) Queryx(query string, args ...interface{}) (*Rows, error) { return nil, nil }
func (tx *Tx) QueryxContext(ctx context.Context, query string, args ...interface{}) (*Rows, error) {
	return nil, nil
}
func (tx *Tx) QueryRowx(query string, args ...interface{}) *Row { return nil }
func (tx *Tx) QueryRowxContext(ctx context.Context, query string, args ...interface{}) *Row {
	return nil
}
func (tx *Tx) NamedExec(query string, arg interface{}) (sql.Result, error) { return nil, nil }
func (tx *Tx) NamedExecContext(ctx context.Context, query string, arg interface{}) (sql.Result, error) {
	return nil, nil
}
func (tx *Tx) NamedQuery(query string, arg interface{}) (*Rows, error) { return nil, nil }
func (tx *Tx) MustExec(query string, args ...interface{}) sql.Result   { return nil }
func (tx *Tx) Preparex(query string) (*Stmt, error)                    { return nil, nil }
func (tx *Tx) Rebind(query string) string                              { return query }

func (s *Stmt) Get(dest interface{}, args ...interface{}) error    { return nil }
func (s *Stmt) Select(dest interface{}, args ...interface{}) error { return nil }
func (s *Stmt) GetContext(ctx context.Context, dest interface{}, args ...interface{}) error {
	return nil
}
func (s *Stmt) SelectContext(ctx context.Context, dest interface{}, args ...interface{}) error {
	return nil
}
func (s *Stmt) Queryx(args ...interface{}) (*Rows, error) { return nil, nil }
func (s *Stmt) QueryRowx(args ...interface{}) *Row        { return nil }
func (s *Stmt) MustExec(args ...interface{}) sql.Result   { return nil }

func (s *NamedStmt) Exec(arg interface{}) (sql.Result, error) { return nil, nil }
func (s *NamedStmt) Get(dest interface{}, arg interface{}) error {
	return nil
}
func (s *NamedStmt) Select(dest interface{}, arg interface{}) error { return nil }

func (r *Rows) StructScan(dest interface{}) error            { return nil }
func (r *Rows) MapScan(dest map[string]interface{}) error    { return nil }
func (r *Rows) SliceScan() ([]interface{}, error)            { return nil, nil }
func (r *Row) Scan(dest ...interface{}) error                { return nil }
func (r *Row) StructScan(dest interface{}) error             { return nil }
func (r *Row) Err() error                                    { return nil }
func (tx *Tx) Stmtx(stmt interface{}) *Stmt                  { return nil }
func (tx *Tx) Unsafe() *Tx                                   { return nil }
func (db *DB) Unsafe() *DB                                   { return nil }
func (db *DB) Connx(ctx context.Context) (*Conn, error)      { return nil, nil }
func (c *Conn) Rebind(query string) string                   { return query }
func (tx *Tx) PrepareNamed(query string) (*NamedStmt, error) { return nil, nil }
func (c *Conn) GetContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error {
	return nil
}
func (c *Conn) SelectContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error {
	return nil
}
