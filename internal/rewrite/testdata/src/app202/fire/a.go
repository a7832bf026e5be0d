package main

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

type Row struct {
	ID   int    `db:"id"`
	Name string `db:"name"`
}

const pageSize = 20

type store struct{ db *sqlx.DB }

// Page: a slice is filled and the loop stops.
func Page(db *sql.DB, name string) ([]int, error) {
	rows, err := db.Query("SELECT id FROM t WHERE name = ? ORDER BY id DESC", name) // want `APP202: all rows are read and the loop stops after 20`
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
		if len(ids) >= pageSize {
			break
		}
	}
	return ids, rows.Err()
}

// Before: the check stands before the row is used.
func (s *store) Before(ctx context.Context) (rows []Row, err error) {
	found, err := s.db.QueryxContext(ctx, "SELECT * FROM t ORDER BY name") // want `APP202`
	if err != nil {
		return nil, err
	}
	defer found.Close()
	kept := []Row{}
	for found.Next() {
		if len(kept) == pageSize {
			break
		}
		var r Row
		if err := found.StructScan(&r); err != nil {
			return nil, err
		}
		kept = append(kept, r)
	}
	return kept, found.Err()
}

// Index: the index of a range is compared.
func Index(db *sqlx.DB) (names []string, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil { // want `APP202: all rows are read and the loop stops after 10`
		return nil, err
	}
	for i, r := range rows {
		if i >= 10 {
			break
		}
		names = append(names, r.Name)
	}
	return names, nil
}

// Last: the check stands at the end, and returns.
func Last(tx *sqlx.Tx) (names []string, err error) {
	rows := make([]Row, 0, 100)
	if err := tx.Select(&rows, `SELECT * FROM t ORDER BY id`); err != nil { // want `APP202: all rows are read and the loop stops after 3`
		return nil, err
	}
	if len(rows) == 0 {
		return nil, sql.ErrNoRows
	}
	for i := range rows {
		names = append(names, rows[i].Name)
		if i+1 == 3 {
			return names, nil
		}
	}
	return names, nil
}

// Returns: the check of the next row returns something else.
func Returns(db *sqlx.DB) (sum int, more bool, err error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY id"); err != nil { // want `stops after 6`
		return 0, false, err
	}
	for i, r := range rows {
		if i >= 5 {
			return sum, true, nil
		}
		sum += r.ID
	}
	return sum, false, nil
}

// Counter: a variable counts.
func Counter(db *sql.DB) (sum int, err error) {
	rows, err := db.Query("SELECT id FROM t ORDER BY id;") // want `APP202`
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		sum += id
		n++
		if n == 50 {
			return sum, nil
		}
	}
	return sum, rows.Err()
}

// Header: the number is in the condition of the loop.
func Header(db *sql.DB) (ids []int, err error) {
	rows, err := db.Query("SELECT id FROM t " + "ORDER BY id") // want `APP202`
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int
	for len(out) < pageSize && rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}

// Post: the counter is in the header.
func Post(db *sql.DB) (sum int, err error) {
	rows, err := db.Query("SELECT id FROM t ORDER BY id") // want `APP202`
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for n := 0; n < 7 && rows.Next(); n++ {
		var id int
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		sum += id
	}
	return sum, rows.Err()
}

// One: the body leaves at its end.
func One(db *sqlx.DB, name string) (r Row, err error) {
	rows, err := db.Queryx("SELECT * FROM t WHERE name = ? ORDER BY id", name) // want `stops after 1`
	if err != nil {
		return r, err
	}
	defer rows.Close()
	for rows.Next() {
		err = rows.StructScan(&r)
		break
	}
	return r, err
}

// Unordered: which rows come first is not promised.
func Unordered(q sqlx.Queryer) (names []string, err error) {
	var rows []Row
	if err := sqlx.Select(q, &rows, "select * from t"); err != nil { // want `APP202`
		return nil, err
	}
	for i, r := range rows {
		if i == 2 {
			break
		}
		names = append(names, r.Name)
	}
	return names, nil
}

func main() {}
