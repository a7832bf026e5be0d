package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"
	sqlitedriver "modernc.org/sqlite"
)

// A Tx is one transaction, or one consistent state to read. Statements have ? for arguments.
type Tx struct {
	ctx     context.Context
	on      runner
	dialect dialect
	conn    *sql.Conn // of the writer
	kept    map[string]*sql.Stmt
}

type runner interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// Read runs do on one consistent state.
func (s *Store) Read(ctx context.Context, do func(*Tx) error) error {
	level := sql.LevelRepeatableRead
	if s.dialect == sqlite {
		level = sql.LevelDefault // a WAL reader has a snapshot
	}
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: level, ReadOnly: s.dialect != sqlite})
	if err != nil {
		return fmt.Errorf("beginning to read: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	return do(&Tx{ctx: ctx, on: tx, dialect: s.dialect})
}

// statement writes ? as $1, $2 … for PostgreSQL. Statements of the portal have no ? in texts.
func (t *Tx) statement(q string) string {
	if t.dialect != postgres || !strings.Contains(q, "?") {
		return q
	}
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(q, "?") {
		if n > 0 {
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}

// values makes arguments that all three drivers take.
func values(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case time.Time:
			out[i] = Micros(a)
		case time.Duration:
			out[i] = int64(a)
		case bool:
			out[i] = 0
			if a {
				out[i] = 1
			}
		default:
			out[i] = a
		}
	}
	return out
}

// prepared is the kept statement of the writer's connection, or nil.
func (t *Tx) prepared(q string) (*sql.Stmt, error) {
	if t.kept == nil {
		return nil, nil
	}
	if s := t.kept[q]; s != nil {
		return s, nil
	}
	s, err := t.conn.PrepareContext(t.ctx, q)
	if err != nil {
		return nil, fmt.Errorf("preparing a statement: %w", err)
	}
	t.kept[q] = s
	return s, nil
}

// Exec runs a statement and returns how many rows it changed.
func (t *Tx) Exec(q string, args ...any) (int64, error) {
	s, err := t.prepared(q)
	if err != nil {
		return 0, err
	}
	var r sql.Result
	if s != nil {
		r, err = s.ExecContext(t.ctx, values(args)...)
	} else {
		r, err = t.on.ExecContext(t.ctx, t.statement(q), values(args)...)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", verb(q), err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("%s: rows: %w", verb(q), err)
	}
	return n, nil
}

// verb is the begin of a statement, for errors.
func verb(q string) string {
	words := strings.Fields(q)
	return strings.Join(words[:min(3, len(words))], " ")
}

// ErrNone is the error of Row where no row is.
var ErrNone = sql.ErrNoRows

// Row reads the first row of a query into into; ErrNone if there is none.
func (t *Tx) Row(q string, args []any, into ...any) error {
	found := false
	err := t.Each(q, args, func(scan func(...any) error) error {
		if found {
			return nil
		}
		found = true
		return scan(into...)
	})
	if err == nil && !found {
		err = ErrNone
	}
	return err
}

// Each calls do with each row of a query. do must not use t.
func (t *Tx) Each(q string, args []any, do func(scan func(...any) error) error) error {
	s, err := t.prepared(q)
	if err != nil {
		return err
	}
	var rows *sql.Rows
	if s != nil {
		rows, err = s.QueryContext(t.ctx, values(args)...)
	} else {
		rows, err = t.on.QueryContext(t.ctx, t.statement(q), values(args)...)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", verb(q), err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(func(into ...any) error { return scan(rows, into) }); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", verb(q), err)
	}
	return nil
}

// scan reads a row; times and bools are stored as numbers.
func scan(rows *sql.Rows, into []any) error {
	raw := make([]any, len(into))
	for i, p := range into {
		switch p.(type) {
		case *time.Time, *bool:
			raw[i] = new(int64)
		default:
			raw[i] = p
		}
	}
	if err := rows.Scan(raw...); err != nil {
		return fmt.Errorf("reading a row: %w", err)
	}
	for i, p := range into {
		switch p := p.(type) {
		case *time.Time:
			*p = FromMicros(*raw[i].(*int64))
		case *bool:
			*p = *raw[i].(*int64) != 0
		}
	}
	return nil
}

// Micros is the stored form of a time; 0 is never.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// FromMicros is the time of a stored form.
func FromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// IsDuplicate reports whether an error is a key that exists already.
func IsDuplicate(err error) bool {
	if e := (*sqlitedriver.Error)(nil); errors.As(err, &e) {
		return e.Code()&0xff == 19 // SQLITE_CONSTRAINT
	}
	if m := (*mysql.MySQLError)(nil); errors.As(err, &m) {
		return m.Number == 1062
	}
	if p := (*pq.Error)(nil); errors.As(err, &p) {
		return p.Code == "23505"
	}
	return false
}
