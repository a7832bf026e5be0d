package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"
)

// maxGroup is how many writes are at most in one commit.
const maxGroup = 64

// ErrClosed is the error of a write after Close.
var ErrClosed = errors.New("the portal's database is closed")

// A write is one transaction that waits for the writer.
type write struct {
	name string
	do   func(*Tx) error
	err  error
	done chan struct{}
}

// Write runs do as one transaction and returns after its commit is on the disk. name is of
// the crash point. An error of do undoes what do wrote, and is returned as it is. do may run
// more than once (a server chose it as the victim of a deadlock): it has no other effect.
func (s *Store) Write(ctx context.Context, name string, do func(*Tx) error) error {
	if s.dialect != sqlite {
		return s.writeServer(ctx, name, do)
	}
	w := &write{name: name, do: do, done: make(chan struct{})}
	select {
	case <-s.closed:
		return ErrClosed
	default:
	}
	select {
	case s.writes <- w:
	case <-s.closed:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("waiting for the writer: %w", ctx.Err())
	}
	select {
	case <-w.done: // a write that was begun is not given up: its effect would be unknown
		return w.err
	case <-s.done:
		select {
		case <-w.done:
			return w.err
		default:
			return ErrClosed
		}
	}
}

// writer runs writes until the store is closed.
func (s *Store) writer(conn *sql.Conn) {
	defer close(s.done)
	defer conn.Close()
	tx := &Tx{ctx: context.Background(), on: conn, dialect: s.dialect, kept: map[string]*sql.Stmt{}, conn: conn}
	for {
		select {
		case w := <-s.writes:
			group := []*write{w}
			for len(group) < maxGroup && len(s.writes) > 0 {
				group = append(group, <-s.writes)
			}
			s.commit(tx, group)
		case <-s.closed:
			return
		}
	}
}

// commit runs a group in one transaction and answers after its commit.
func (s *Store) commit(tx *Tx, group []*write) {
	_, err := tx.Exec("BEGIN IMMEDIATE")
	for _, w := range group {
		if w.err = err; err != nil {
			continue
		}
		w.err = tx.savepoint(w.do)
	}
	if err == nil {
		for _, w := range group {
			s.point("before-commit:" + w.name)
		}
		if _, err = tx.Exec("COMMIT"); err != nil {
			_, undone := tx.Exec("ROLLBACK")
			err = fmt.Errorf("committing: %w", errors.Join(err, undone))
		}
		for _, w := range group {
			s.point("after-commit:" + w.name)
		}
	}
	for _, w := range group {
		if w.err == nil {
			w.err = err
		}
		close(w.done)
	}
}

// savepoint runs do; an error or a panic of it undoes what it wrote.
func (t *Tx) savepoint(do func(*Tx) error) (err error) {
	if _, err := t.Exec("SAVEPOINT w"); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("BUG: a write panicked: %v", p)
		}
		if err != nil {
			_, undone := t.Exec("ROLLBACK TO w")
			err = join(err, undone)
		}
		_, released := t.Exec("RELEASE w")
		err = join(err, released)
	}()
	return do(t)
}

// join keeps an error as it is if there is no second one.
func join(err, more error) error {
	if more == nil {
		return err
	}
	return errors.Join(err, more)
}

// tries is how often a transaction that a server gave up is repeated.
const tries = 8

func (s *Store) writeServer(ctx context.Context, name string, do func(*Tx) error) error {
	for try := 1; ; try++ {
		err := s.once(ctx, name, do)
		if err == nil || try == tries || !again(err) {
			return err
		}
		time.Sleep(time.Duration(try*try) * time.Millisecond)
	}
}

func (s *Store) once(ctx context.Context, name string, do func(*Tx) error) error {
	select {
	case <-s.closed:
		return ErrClosed
	default:
	}
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	if err := do(&Tx{ctx: ctx, on: tx, dialect: s.dialect}); err != nil {
		return join(err, tx.Rollback())
	}
	s.point("before-commit:" + name)
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	s.point("after-commit:" + name)
	return nil
}

// again reports whether a server ended a transaction that may succeed when it is repeated.
func again(err error) bool {
	if m := (*mysql.MySQLError)(nil); errors.As(err, &m) {
		return m.Number == 1213 || m.Number == 1205 || m.Number == 1020
	}
	if p := (*pq.Error)(nil); errors.As(err, &p) {
		return p.Code == "40001" || p.Code == "40P01"
	}
	return false
}
