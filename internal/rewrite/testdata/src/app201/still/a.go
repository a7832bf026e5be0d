package main

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

type Row struct {
	ID   int    `db:"id"`
	Name string `db:"name"`
}

var kept []Row

// Returned: the slice leaves the function.
func Returned(db *sqlx.DB) ([]Row, error) {
	var rows []Row
	err := db.Select(&rows, "SELECT * FROM t ORDER BY id")
	if len(rows) == 0 {
		return nil, err
	}
	return rows, err
}

// Second: another element is used.
func Second(db *sqlx.DB) int {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil || len(rows) < 1 {
		return 0
	}
	return rows[0].ID + rows[1].ID
}

// Length: the number of rows matters.
func Length(db *sqlx.DB) int {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil || len(rows) > 1 {
		return 0
	}
	return rows[0].ID
}

// Ranged: all rows are used.
func Ranged(db *sqlx.DB) (n int) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil {
		return 0
	}
	for _, r := range rows {
		n += r.ID
	}
	return n
}

// Limited: it has a limit.
func Limited(db *sqlx.DB) bool {
	var rows []Row
	err := db.Select(&rows, "SELECT * FROM t ORDER BY id LIMIT 1")
	return err == nil && len(rows) > 0
}

// Given: the slice may have elements before.
func Given(db *sqlx.DB, rows []Row) bool {
	err := db.Select(&rows, "SELECT * FROM t ORDER BY id")
	return err == nil && len(rows) > 0
}

// Global: other code may use the slice.
func Global(db *sqlx.DB) bool {
	err := db.Select(&kept, "SELECT * FROM t ORDER BY id")
	return err == nil && len(kept) > 0
}

// Built: a part of the statement is not constant.
func Built(db *sqlx.DB, order string) bool {
	var rows []Row
	err := db.Select(&rows, fmt.Sprintf("SELECT * FROM t ORDER BY %s", order))
	return err == nil && len(rows) > 0
}

// Changed: the variable of the statement is set twice.
func Changed(db *sqlx.DB, all bool) bool {
	var rows []Row
	query := "SELECT * FROM t"
	if all {
		query = "SELECT * FROM t LIMIT 10"
	}
	err := db.Select(&rows, query)
	return err == nil && len(rows) > 0
}

// Loop: every row is read.
func Loop(db *sql.DB) (n int, err error) {
	rows, err := db.Query("SELECT id FROM t")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, nil
}

// Twice: a second row is checked for.
func Twice(db *sql.DB) (bool, error) {
	rows, err := db.Query("SELECT id FROM t ORDER BY id")
	if err != nil {
		return false, err
	}
	defer rows.Close()
	return rows.Next() && !rows.Next(), nil
}

// Passed: another function reads the rows.
func Passed(db *sql.DB) (int, error) {
	rows, err := db.Query("SELECT id FROM t ORDER BY id")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if rows.Next() {
		return rest(rows), nil
	}
	return 0, nil
}

func rest(rows *sql.Rows) (n int) {
	for rows.Next() {
		n++
	}
	return n
}

// Number: the count itself is used.
func Number(db *sqlx.DB) (int, error) {
	var n int
	err := db.Get(&n, "SELECT COUNT(*) FROM t")
	if n == 0 {
		return 0, err
	}
	return n, err
}

// One: compared with another number.
func One(db *sqlx.DB) bool {
	var n int
	err := db.Get(&n, "SELECT COUNT(*) FROM t")
	return err == nil && n > 1
}

// Column: COUNT of a column leaves NULL out.
func Column(db *sqlx.DB) bool {
	var n int
	err := db.Get(&n, "SELECT COUNT(name) FROM t")
	return err == nil && n > 0
}

// Groups: there is a count for each group.
func Groups(db *sqlx.DB) bool {
	var n int
	err := db.Get(&n, "SELECT COUNT(*) FROM t GROUP BY name")
	return err == nil && n > 0
}

// Key: the unique key allows one row.
func Key(db *sqlx.DB, id int) bool {
	var rows []Row
	err := db.Select(&rows, "SELECT * FROM t WHERE id = ?", id)
	return err == nil && len(rows) > 0
}

// CountKey: the count is one at most.
func CountKey(db *sqlx.DB, id int) bool {
	var n int
	err := db.Get(&n, "SELECT COUNT(*) FROM t WHERE name = 'x' AND ? = id", id)
	return err == nil && n > 0
}

// Aggregate: there is one row.
func Aggregate(db *sqlx.DB) int {
	var sums []int
	if err := db.Select(&sums, "SELECT SUM(n) FROM t"); err != nil || len(sums) == 0 {
		return 0
	}
	return sums[0]
}

// Boolean: EXISTS of this driver's placeholders may be no number.
func Boolean(db *sqlx.DB, name string) bool {
	var n int
	err := db.Get(&n, "SELECT COUNT(*) FROM t WHERE name = $1", name) // want `APP201`
	return err == nil && n > 0
}

func main() {}

// CountReturned: the count itself is the result, by its name.
func CountReturned(db *sqlx.DB, name string) (n int, err error) {
	if err = db.Get(&n, "SELECT COUNT(*) FROM t WHERE name = ?", name); err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, errors.New("none")
	}
	return
}
