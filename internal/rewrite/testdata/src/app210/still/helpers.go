package still

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// Cursor: a statement is sent while rows are read, which takes two connections of a pool.
func Cursor(db *sqlx.DB) (sum int, err error) {
	tx, err := db.Beginx() // want `that only read`
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
		var id, n int
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		if err := tx.Get(&n, "SELECT COUNT(*) FROM u WHERE t_id = ?", id); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, tx.Commit()
}

type meter struct{}

func (meter) sized(ctx context.Context, tx *sqlx.Tx) (n int, err error) {
	err = tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM t")
	return n, err
}

// OfMethod: a method that takes a transaction may be one of an interface.
func OfMethod(ctx context.Context, db *sqlx.DB, m meter) (n int, err error) {
	tx, err := db.Beginx() // want `that only read`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	return m.sized(ctx, tx)
}

func measured(ctx context.Context, tx *sqlx.Tx) (n int, err error) {
	err = tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM t")
	return n, err
}

var measure = measured

// OfValue: the helper is used as a value, too.
func OfValue(ctx context.Context, db *sqlx.DB) (n int, err error) {
	tx, err := db.Beginx() // want `that only read`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	return measured(ctx, tx)
}

// Shadowed: the pool's name means something else where the statement is sent.
func Shadowed(db *sqlx.DB, names []string) (n int, err error) {
	tx, err := db.Beginx() // want `that only read`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	for _, db := range names {
		var one int
		if err := tx.Get(&one, "SELECT COUNT(*) FROM t WHERE name = ?", db); err != nil {
			return 0, err
		}
		n += one
	}
	return n, tx.Commit()
}
