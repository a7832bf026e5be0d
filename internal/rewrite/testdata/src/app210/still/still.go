package still

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

func Writes(db *sqlx.DB) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec("UPDATE t SET n = n + 1"); err != nil {
		return err
	}
	return tx.Commit()
}

func Locks(db *sqlx.DB) (n int, err error) {
	tx, err := db.Beginx()
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if err := tx.Get(&n, "SELECT n FROM t WHERE id = 1 FOR UPDATE"); err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

func Shares(db *sqlx.DB) (n int, err error) {
	tx, err := db.Beginx()
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	err = tx.Get(&n, "SELECT n FROM t LOCK IN SHARE MODE")
	return n, err
}

func Serial(ctx context.Context, db *sql.DB) (n int, err error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	err = tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM t").Scan(&n)
	return n, err
}

func ReadThenWrite(db *sqlx.DB) (n int, err error) {
	tx, err := db.Beginx()
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if err := tx.Get(&n, "SELECT n FROM t"); err != nil {
		return 0, err
	}
	if _, err := tx.Exec("DELETE FROM t WHERE n = ?", n); err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

func Unknown(db *sqlx.DB, query string) (n int, err error) {
	tx, err := db.Beginx()
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	err = tx.Get(&n, query)
	return n, err
}

func Escapes(db *sqlx.DB) (*sqlx.Tx, error) {
	tx, err := db.Beginx()
	if err != nil {
		return nil, err
	}
	return tx, nil
}

func store(tx *sqlx.Tx) error {
	_, err := tx.Exec("INSERT INTO t VALUES (1)")
	return err
}

func HelperWrites(db *sqlx.DB) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return store(tx)
}

type repo interface{ Load(tx *sqlx.Tx) error }

func Interface(db *sqlx.DB, r repo) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return r.Load(tx)
}

func Prepared(db *sqlx.DB) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	_, err = tx.Prepare("SELECT 1")
	return err
}

func None(db *sqlx.DB) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM t")
	return n, err
}

func Variables(db *sqlx.DB) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var n int
	return tx.Get(&n, "SELECT id INTO @last FROM t LIMIT 1")
}
