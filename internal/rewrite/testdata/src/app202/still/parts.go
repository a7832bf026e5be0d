package main

import (
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// Written: the loop writes, so that what is read later is not what was read.
func Written(db *sqlx.DB) (int, error) {
	var rows []Row
	var names []string
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil { // want `that pass its conditions`
		return 0, err
	}
	for _, r := range rows {
		if r.Name == "" {
			continue
		}
		db.Exec("UPDATE t SET name = '' WHERE id = ?", r.ID)
		names = append(names, r.Name)
		if len(names) == 20 {
			break
		}
	}
	return len(names), nil
}

// Changed: the index is set.
func Changed(db *sqlx.DB) ([]string, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil { // want `that pass its conditions`
		return nil, err
	}
	var out []string
	for i, r := range rows {
		if r.Name == "" {
			i++
			continue
		}
		out = append(out, r.Name)
		if len(out) == 20 {
			break
		}
		_ = i
	}
	return out, nil
}

// Unordered: the first rows are any.
func Unordered(db *sqlx.DB) ([]string, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t"); err != nil { // want `that pass its conditions`
		return nil, err
	}
	var out []string
	for _, r := range rows {
		if r.Name != "" {
			out = append(out, r.Name)
		}
		if len(out) == 20 {
			break
		}
	}
	return out, nil
}

// Argument: the argument changes before the other rows would be read.
func Argument(db *sqlx.DB, level string) ([]string, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t WHERE level = ? ORDER BY id", level); err != nil { // want `that pass its conditions`
		return nil, err
	}
	var out []string
	for _, r := range rows {
		if r.Name == "" {
			continue
		}
		level = r.Name
		out = append(out, level)
		if len(out) == 20 {
			break
		}
	}
	return out, nil
}

// Ignored: the error is not answered right behind the statement.
func Ignored(db *sqlx.DB) []string {
	var rows []Row
	err := db.Select(&rows, "SELECT * FROM t ORDER BY id") // want `that pass its conditions`
	if err == sql.ErrNoRows {
		return nil
	}
	var out []string
	for _, r := range rows {
		if r.Name == "" {
			continue
		}
		out = append(out, r.Name)
		if len(out) == 20 {
			break
		}
	}
	return out
}

// whole returns more than what it keeps.
func whole(rows []Row) (out []Row, n int, err error) {
	for _, r := range rows {
		if r.ID > 3 {
			out = append(out, r)
		}
		if len(out) >= 20 {
			break
		}
	}
	return out, len(rows), nil
}

// Whole: the function counts all rows.
func Whole(db *sqlx.DB) (int, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil {
		return 0, err
	}
	_, n, err := whole(rows)
	return n, err
}
