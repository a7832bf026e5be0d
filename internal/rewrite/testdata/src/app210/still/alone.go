package still

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// Repeatable: two statements of one state, as the code says.
func Repeatable(ctx context.Context, db *sql.DB) (a, b int, err error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
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

// Options: they are not written there.
func Options(ctx context.Context, db *sql.DB, o *sql.TxOptions) (n int, err error) {
	tx, err := db.BeginTx(ctx, o)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	err = tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM t").Scan(&n)
	return n, err
}

// Open: the end of the transaction closes the rows.
func Open(db *sqlx.DB) (id int, err error) {
	tx, err := db.Beginx() // want `that only read`
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	rows, err := tx.Query("SELECT id FROM t")
	if err != nil {
		return 0, err
	}
	if rows.Next() {
		err = rows.Scan(&id)
	}
	return id, err
}
