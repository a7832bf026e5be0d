package main

import (
	"database/sql"

	"github.com/jmoiron/sqlx"
)

type Row struct {
	ID   int    `db:"id"`
	Name string `db:"name"`
}

// Filtered: rows without a name do not count.
func Filtered(db *sqlx.DB) (names []string, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil { // want `that pass its conditions`
		return nil, err
	}
	var out []string
	for _, r := range rows {
		if r.Name == "" {
			continue
		}
		out = append(out, r.Name)
		if len(out) >= 20 {
			break
		}
	}
	return out, nil
}

// Sometimes: only some rows are kept.
func Sometimes(db *sqlx.DB) (names []string, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil { // want `that pass its conditions`
		return nil, err
	}
	var out []string
	for _, r := range rows {
		if r.Name != "" {
			out = append(out, r.Name)
		}
		if len(out) >= 20 {
			break
		}
	}
	return out, nil
}

// Later: the rows are used again.
func Later(db *sqlx.DB) (n int, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil {
		return 0, err
	}
	for i := range rows {
		if i >= 20 {
			break
		}
		n += rows[i].ID
	}
	return n + len(rows), nil
}

// Given: the number is no constant.
func Given(db *sqlx.DB, limit int) (n int, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil {
		return 0, err
	}
	for i, r := range rows {
		if i >= limit {
			break
		}
		n += r.ID
	}
	return n, nil
}

// All: the loop goes to the end.
func All(db *sql.DB) (n int, err error) {
	rows, err := db.Query("SELECT id FROM t ORDER BY id")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// Condition: the loop leaves at a row, not after a number.
func Condition(db *sqlx.DB) (n int, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil {
		return 0, err
	}
	for _, r := range rows {
		if r.ID >= 100 {
			break
		}
		n++
	}
	return n, nil
}

// Limited: the statement has a limit.
func Limited(db *sqlx.DB) (n int, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id LIMIT 100"); err != nil {
		return 0, err
	}
	for i, r := range rows {
		if i >= 20 {
			break
		}
		n += r.ID
	}
	return n, nil
}

// Filled: the slice has elements before.
func Filled(db *sqlx.DB, out []string) ([]string, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		out = append(out, r.Name)
		if len(out) >= 20 {
			break
		}
	}
	return out, nil
}

// Reset: the counter starts again.
func Reset(db *sqlx.DB) (n int, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil {
		return 0, err
	}
	k := 0
	for _, r := range rows {
		n += r.ID
		k++
		if r.Name == "" {
			k = 0
		}
		if k == 20 {
			break
		}
	}
	return n, nil
}

// Index: the index is set in the loop.
func Index(db *sqlx.DB) (n int, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil {
		return 0, err
	}
	for i, r := range rows {
		if r.Name == "" {
			i = 0
		}
		n += r.ID
		if i == 20 {
			break
		}
	}
	return n, nil
}

// Second: rows are advanced at two places.
func Second(db *sql.DB) (n int, err error) {
	rows, err := db.Query("SELECT id FROM t ORDER BY id")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		rows.Next()
		if n++; n == 3 {
			break
		}
	}
	return n, nil
}

// Inner: the break leaves the inner loop.
func Inner(db *sqlx.DB) (n int, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil {
		return 0, err
	}
	for _, r := range rows {
		for i := range r.Name {
			if i >= 20 {
				break
			}
			n++
		}
	}
	return n, nil
}

func main() {}
