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
