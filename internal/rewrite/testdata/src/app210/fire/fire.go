package fire

import (
	"context"
	"database/sql"
	"log"

	"github.com/jmoiron/sqlx"
)

type app struct{ db *sqlx.DB }

func Plain(db *sql.DB) (n int, err error) {
	tx, err := db.Begin() // want `a transaction has one statement, which only reads`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	err = tx.QueryRow("SELECT COUNT(*) FROM t").Scan(&n)
	if err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

func (a *app) Field(id int) (string, error) {
	tx, err := a.db.Beginx() // want `a transaction has one statement`
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	var name string
	if err := tx.Get(&name, "SELECT name FROM t WHERE id = ?", id); err != nil {
		return "", err
	}
	if err := tx.Commit(); err != nil {
		return "", err
	}
	return name, nil
}

func Context(ctx context.Context, db *sqlx.DB) ([]string, error) {
	tx, err := db.BeginTxx(ctx, nil) // want `a transaction has one statement`
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	var names []string
	err = tx.SelectContext(ctx, &names, "SELECT name FROM t")
	if err != nil {
		return nil, err
	}
	err = tx.Commit()
	if err != nil {
		return nil, err
	}
	return names, nil
}

func Must(db *sqlx.DB) (names []string, err error) {
	tx := db.MustBegin() // want `a transaction has one statement`
	defer tx.Rollback()
	if err := tx.Select(&names, "SELECT name FROM t"); err != nil {
		return nil, err
	}
	return names, tx.Commit()
}

func Branches(db *sqlx.DB) (names []string) {
	tx, err := db.Beginx() // want `a transaction has one statement`
	if err != nil {
		log.Fatal(err)
	}
	if err = tx.Select(&names, "SELECT name FROM t"); err != nil {
		tx.Rollback()
		return nil
	}
	tx.Commit()
	return names
}

func Rows(db *sql.DB) (n int, err error) {
	tx, err := db.Begin() // want `a transaction has one statement`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	rows, err := tx.Query("SELECT id FROM t")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

func Last(ctx context.Context, db *sql.DB) (n int) {
	tx, err := db.BeginTx(ctx, nil) // want `a transaction has one statement`
	if err != nil {
		return 0
	}
	_ = tx.QueryRowContext(ctx, "SELECT MAX(id) FROM t").Scan(&n)
	_ = tx.Rollback()
	return n
}

func Closure(db *sqlx.DB) func() int {
	return func() int {
		tx, err := db.Beginx() // want `a transaction has one statement, which only reads`
		if err != nil {
			return 0
		}
		defer tx.Rollback()
		n := 0
		tx.Get(&n, "SELECT 1")
		return n
	}
}

func Two(db *sqlx.DB) (a, b int, err error) {
	tx, err := db.Beginx() // want `a transaction has 2 statements that only read`
	if err != nil {
		return 0, 0, err
	}
	defer tx.Rollback()
	if err := tx.Get(&a, "SELECT COUNT(*) FROM t"); err != nil {
		return 0, 0, err
	}
	if err := tx.Get(&b, "SELECT MAX(id) FROM t"); err != nil {
		return 0, 0, err
	}
	return a, b, tx.Commit()
}

func Loop(db *sqlx.DB, ids []int) (names []string, err error) {
	tx, err := db.Beginx() // want `that only read`
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for _, id := range ids {
		var name string
		if err := tx.Get(&name, "SELECT name FROM t WHERE id = ?", id); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, tx.Commit()
}

func count(tx *sqlx.Tx) (n int, err error) {
	err = tx.Get(&n, "SELECT COUNT(*) FROM t")
	return n, err
}

func Helper(db *sqlx.DB) (int, error) {
	tx, err := db.Beginx() // want `a transaction has one statement, which only reads`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	return count(tx)
}
