package fire

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// Transactions that send one statement each time, or whose isolation promises nothing more.

// Either: one of two statements.
func Either(db *sqlx.DB, all bool) (n int, err error) {
	tx, err := db.Beginx() // want `a transaction has one of several statements`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if all {
		err = tx.Get(&n, "SELECT COUNT(*) FROM t")
	} else {
		err = tx.Get(&n, "SELECT COUNT(*) FROM t WHERE id > 3")
	}
	if err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

// Returns: the first one leaves the function.
func Returns(db *sqlx.DB, name string) (ids []int, err error) {
	tx, err := db.Beginx() // want `a transaction has one of several statements`
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if name == "" {
		if err := tx.Select(&ids, "SELECT id FROM t"); err != nil {
			return nil, err
		}
		return ids, nil
	}
	if err := tx.Select(&ids, "SELECT id FROM t WHERE name = ?", name); err != nil {
		return nil, err
	}
	return ids, tx.Commit()
}

// Cases: one for each case.
func Cases(db *sqlx.DB, kind int) (n int, err error) {
	tx, err := db.Beginx() // want `a transaction has one of several statements`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	switch kind {
	case 1:
		err = tx.Get(&n, "SELECT COUNT(*) FROM t")
	case 2:
		err = tx.Get(&n, "SELECT COUNT(*) FROM u")
	default:
		err = tx.Get(&n, "SELECT COUNT(*) FROM v")
	}
	if err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

// Around: the loop is around the transaction.
func Around(db *sqlx.DB, ids []int) (sum int, err error) {
	for _, id := range ids {
		tx, err := db.Beginx() // want `a transaction has one statement, which only reads`
		if err != nil {
			return 0, err
		}
		var n int
		if err := tx.Get(&n, "SELECT COUNT(*) FROM t WHERE id > ?", id); err != nil {
			tx.Rollback()
			return 0, err
		}
		tx.Commit()
		sum += n
	}
	return sum, nil
}

// Committed: each statement sees what is committed then, with or without the transaction.
func Committed(ctx context.Context, db *sql.DB) (a, b int, err error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: true}) // want `2 statements that only read, each of which sees what is committed then`
	if err != nil {
		return 0, 0, err
	}
	defer tx.Rollback()
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM t").Scan(&a); err != nil {
		return 0, 0, err
	}
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM u").Scan(&b); err != nil {
		return 0, 0, err
	}
	return a, b, tx.Commit()
}

// ReadOnly: the database is told so.
func ReadOnly(ctx context.Context, db *sqlx.DB) (n int, err error) {
	tx, err := db.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true}) // want `a transaction has one statement, which only reads`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	err = tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM t")
	return n, err
}
