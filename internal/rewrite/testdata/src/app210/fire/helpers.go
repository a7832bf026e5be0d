package fire

import (
	"context"

	"github.com/jmoiron/sqlx"
)

type reader interface {
	GetContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error
}

func size(ctx context.Context, tx reader) (n int, err error) {
	err = tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM t")
	return n, err
}

// Helpers: a helper takes the pool as well, and a condition chooses the text.
func Helpers(ctx context.Context, db *sqlx.DB, all bool) (int, error) {
	tx, err := db.Beginx() // want `a transaction has 2 statements that only read`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	query := "SELECT id FROM t"
	if !all {
		query += " LIMIT 20"
	}
	var ids []int
	if err := tx.SelectContext(ctx, &ids, query); err != nil {
		return 0, err
	}
	n, err := size(ctx, tx)
	if err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	return n + len(ids), nil
}

func sized(ctx context.Context, tx *sqlx.Tx) (n int, err error) {
	err = tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM t")
	return n, err
}

// OfTx: the helper takes a transaction and nothing else.
func OfTx(ctx context.Context, db *sqlx.DB) (n int, err error) {
	tx, err := db.Beginx() // want `a transaction has one statement, which only reads`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	return sized(ctx, tx)
}

func outer(ctx context.Context, tx *sqlx.Tx, least int) (n int, err error) {
	if n, err = inner(ctx, tx, least); err != nil {
		return 0, err
	}
	var m int
	err = tx.GetContext(ctx, &m, "SELECT COUNT(*) FROM u WHERE id > ?", least)
	return n + m, err
}

func inner(ctx context.Context, tx *sqlx.Tx, least int) (n int, err error) {
	err = tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM t WHERE id > ?", least)
	return n, err
}

// OfTwo: a helper gives the transaction to another one.
func OfTwo(ctx context.Context, db *sqlx.DB) (n int, err error) {
	tx, err := db.BeginTxx(ctx, nil) // want `that only read`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if n, err = outer(ctx, tx, 3); err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	return n, nil
}
