package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

type Report struct {
	At      int64   `db:"at"`
	Good    bool    `db:"good"`
	Message string  `db:"message"`
	Note    *string `db:"note"`
}

type server struct {
	db *sqlx.DB
}

const insertReport = "INSERT INTO report (at, good, message) VALUES (?, ?, ?)"

// InTx: a transaction, a check after the statement, arguments over several lines.
func (s *server) InTx(uuid string, reports []Report) error {
	tx, err := s.db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, r := range reports {
		_, err := tx.Exec( // want `APP204`
			"INSERT INTO `report` (`uuid`, `at`, `good`, `message`) VALUES (?, ?, ?, ?)",
			uuid, time.Unix(r.At, 0), r.Good, r.Message)
		if err != nil {
			return fmt.Errorf("storing: %w", err)
		}
	}
	return tx.Commit()
}

// Short: the check is in one line, with a context.
func Short(ctx context.Context, tx *sql.Tx, reports []Report) error {
	for i, r := range reports {
		if _, err := tx.ExecContext(ctx, insertReport, i, r.Good, r.Message); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Must: errors panic; the row has a constant and a function.
func Must(db *sqlx.DB, names []string) {
	for _, name := range names {
		db.MustExec("insert into tag (name, kind, made) values (?, 'user', NOW())", name) // want `APP204`
	}
}

// Outer: the error belongs to the function; the loop counts.
func Outer(tx *sqlx.Tx, n int) (err error) {
	for i := 0; i < n; i++ {
		_, err = tx.Exec("INSERT INTO seat (line, number) VALUES (?, ?)", i/10, i%10) // want `APP204`
		if err != nil {
			return
		}
	}
	return nil
}

// Filter: some elements have no row, others end the transaction.
func Filter(tx *sql.Tx, lines []string) error {
	for _, line := range lines {
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		if key == "" {
			return fmt.Errorf("no key in %q", line)
		}
		if _, err := tx.Exec("INSERT IGNORE INTO setting VALUES (?, ?)", key, normal(value)); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

func normal(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// Upsert: more follows behind the row.
func Upsert(db *sql.DB, counts map[string]int) error {
	for name, n := range counts {
		_, err := db.Exec("INSERT INTO total (name, n) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + VALUES(n)", name, n) // want `APP204`
		if err != nil {
			return err
		}
	}
	return nil
}

// Lines: the statement is written in several lines.
func Lines(ctx context.Context, tx *sqlx.Tx, reports []*Report) error {
	for _, r := range reports {
		_, err := tx.ExecContext( // want `APP204`
			ctx, `
			INSERT INTO report (at, message, note)
			VALUES (?, ?, ?)
		`, r.At, r.Message, r.Note)
		if err != nil {
			return err
		}
	}
	return nil
}

// Prepared: the statement is prepared before the loop.
func Prepared(tx *sql.Tx, reports []Report) error {
	stmt, err := tx.Prepare("INSERT INTO report (at, good) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, r := range reports {
		if _, err := stmt.Exec(r.At, r.Good); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Named: sqlx writes the rows of a slice.
func Named(tx *sqlx.Tx, reports []Report) error {
	for _, r := range reports {
		if _, err := tx.NamedExec("INSERT INTO report (at, good) VALUES (:at, :good)", r); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// NamedMap: a map for each row.
func NamedMap(ctx context.Context, tx *sqlx.Tx, reports []Report) error {
	for _, r := range reports {
		_, err := tx.NamedExecContext(ctx, "INSERT INTO report (at) VALUES (:at)", map[string]interface{}{"at": r.At}) // want `APP204`
		if err != nil {
			return err
		}
	}
	return nil
}

// Helper: the handle is an interface.
func Helper(e sqlx.Execer, ids []int64, args string) error {
	for _, id := range ids {
		if _, err := e.Exec("REPLACE INTO "+"seen (id, who) VALUES (?, ?)", id, args); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Closure: within a function literal.
func Closure(tx *sql.Tx) func([]string) error {
	return func(names []string) error {
		for _, name := range names {
			if _, err := tx.Exec("INSERT INTO tag (name) VALUES (?)", name); err != nil { // want `APP204`
				return err
			}
		}
		return nil
	}
}

func main() {}

// NamedError: the error names the element.
func NamedError(db *sqlx.DB, reports []Report) error {
	for _, r := range reports {
		if _, err := db.NamedExec("INSERT INTO report (at, good) VALUES (:at, :good)", r); err != nil { // want `APP204`
			return fmt.Errorf("storing the report of %v: %w", r.At, err)
		}
	}
	return nil
}

// Rebound: the text gets the placeholders of the database where it is sent.
func Rebound(tx *sqlx.Tx, reports []Report) error {
	for _, r := range reports {
		if _, err := tx.Exec(tx.Rebind("INSERT INTO report (at, good, message) VALUES (?, ?, ?)"), r.At, r.Good, r.Message); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// ReboundPrepared: it does so where it is prepared.
func ReboundPrepared(tx *sqlx.Tx, reports []Report) error {
	stmt, err := tx.Preparex(tx.Rebind("INSERT INTO report (at, good, message) VALUES (?, ?, ?)"))
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, r := range reports {
		if _, err := stmt.Exec(r.At, r.Good, r.Message); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}
