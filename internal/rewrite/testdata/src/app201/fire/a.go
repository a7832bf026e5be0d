package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

type Row struct {
	ID    int    `db:"id"`
	Name  string `db:"name"`
	Level string `db:"level"`
}

type store struct {
	db *sqlx.DB
}

const byName = "SELECT * FROM t WHERE name = ? ORDER BY id"

const shared = "SELECT * FROM t WHERE level = ? ORDER BY id"

const table = "t"

// Literal: ordered, first row used.
func Literal(db *sqlx.DB) (Row, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id DESC"); err != nil { // want `APP201: all rows are read`
		return Row{}, err
	}
	if len(rows) == 0 {
		return Row{}, sql.ErrNoRows
	}
	return rows[0], nil
}

// Method: a field is the handle; the literal has several lines.
func (s *store) Method(ctx context.Context, level string) (string, error) {
	rows := []Row{}
	err := s.db.SelectContext( // want `APP201`
		ctx, &rows, `
		SELECT *
		FROM t
		WHERE level = ?
		ORDER BY id
	`, level)
	if err != nil || len(rows) < 1 {
		return "", err
	}
	return rows[0].Name, nil
}

// Const: the statement is a constant that nothing else uses.
func Const(tx *sqlx.Tx, name string) (int, error) {
	var rows []Row
	if err := tx.Select(&rows, byName, name); err != nil { // want `APP201`
		return 0, err
	}
	if len(rows) > 0 {
		return rows[0].ID, nil
	}
	return 0, nil
}

// Shared: other code needs all rows of the constant.
func Shared(tx *sqlx.Tx, level string) (int, []Row, error) {
	var rows, all []Row
	if err := tx.Select(&rows, shared, level); err != nil { // want `APP201`
		return 0, nil, err
	}
	if err := tx.Select(&all, shared, level); err != nil {
		return 0, nil, err
	}
	if len(rows) != 0 {
		return rows[0].ID, all, nil
	}
	return 0, all, nil
}

// Sum: constants are joined.
func Sum(db *sqlx.DB) bool {
	var rows []Row
	err := db.Select(&rows, "SELECT * FROM "+table+" ORDER BY id") // want `APP201`
	return err == nil && len(rows) >= 1 && rows[0].Level == "high"
}

// Format: only constants are formatted.
func Format(db *sqlx.DB, pattern string) bool {
	var rows []Row
	query := fmt.Sprintf("SELECT * FROM %s WHERE name LIKE ? AND level <> '100%%' ORDER BY id", table)
	err := db.Select(&rows, query, pattern) // want `APP201`
	return err == nil && len(rows) > 0
}

// Helper: the handle is a parameter of an interface type.
func Helper(q sqlx.Queryer, name string) *Row {
	var rows []Row
	if err := sqlx.Select(q, &rows, "select * from t where name = ? order by id for update", name); err != nil { // want `APP201`
		return nil
	}
	if len(rows) == 0 {
		return nil
	}
	return &rows[0]
}

// Plain: database/sql, one Next.
func Plain(ctx context.Context, db *sql.DB, name string) (id int, err error) {
	rows, err := db.QueryContext(ctx, "SELECT id FROM t WHERE name = ? ORDER BY id;", name) // want `APP201`
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&id)
	}
	return id, err
}

// Closure: inside of a function literal, in a transaction.
func Closure(tx *sql.Tx) func() (string, error) {
	return func() (string, error) {
		rows, err := tx.Query("SELECT name FROM t ORDER BY id -- newest first") // want `APP201`
		if err != nil {
			return "", err
		}
		defer rows.Close()
		var name string
		if !rows.Next() {
			return "", rows.Err()
		}
		return name, rows.Scan(&name)
	}
}

// Count: compared with zero.
func Count(db *sqlx.DB, level string) (bool, error) {
	var n int
	if err := db.Get(&n, "SELECT COUNT(*) FROM `t` WHERE `level` = ?", level); err != nil { // want `APP201: all matching rows are counted`
		return false, err
	}
	return n > 0, nil
}

// CountRow: with database/sql, mirrored.
func CountRow(ctx context.Context, db *sql.DB, level string) bool {
	var n int64
	err := db.QueryRowContext(ctx, `select count(1) from t join u on u.id = t.user_id where t.level = ?`, level).Scan(&n) // want `APP201`
	if err != nil || 0 == n {
		return false
	}
	return true
}

// GetOrdered: Get reads the first of many rows.
func GetOrdered(s *store, level string) (r Row, err error) {
	var row Row
	err = s.db.Get(&row, s.db.Rebind("SELECT * FROM t WHERE level = ? ORDER BY id DESC"), level) // want `APP201`
	return row, err
}

// Prepared: the text belongs to the prepared statement.
func Prepared(db *sqlx.DB, level string) (Row, error) {
	stmt, err := db.Preparex("SELECT * FROM t WHERE level = ? ORDER BY id")
	if err != nil {
		return Row{}, err
	}
	defer stmt.Close()
	var rows []Row
	if err := stmt.Select(&rows, level); err != nil { // want `APP201`
		return Row{}, err
	}
	if len(rows) > 0 {
		return rows[0], nil
	}
	return Row{}, nil
}

func main() {}
