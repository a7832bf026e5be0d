package main

import (
	"context"
	"log"
	"net/http"

	"github.com/jmoiron/sqlx"
)

// Visible: the loop leaves rows out, and the error is answered.
func Visible(db *sqlx.DB, w http.ResponseWriter, r *http.Request) []string {
	rows := []Row{}
	err := db.SelectContext(r.Context(), &rows, "SELECT * FROM t ORDER BY name DESC, id") // want `stops after 20 that pass its conditions; read 80 rows first, and all where they are not enough`
	if err != nil {
		log.Print(err)
		http.Error(w, "no rows", http.StatusInternalServerError)
		return nil
	}
	var names []string
	for _, row := range rows {
		if row.Name == "" {
			continue
		}
		names = append(names, row.Name)
		if len(names) >= pageSize {
			break
		}
	}
	return names
}

// Indexed: the index is used, the rows are pointers, and the statement has an argument.
func (s *store) Indexed(ctx context.Context, level string) (map[int]string, error) {
	var rows []*Row
	if err := s.db.SelectContext(ctx, &rows, "SELECT id, name FROM t WHERE level = ? ORDER BY id", level); err != nil { // want `stops after 3 that pass`
		return nil, err
	}
	out := map[int]string{}
	n := 0
	for i, row := range rows {
		if row.ID%2 == 0 {
			continue
		}
		out[i] = row.Name
		n++
		if n == 3 {
			break
		}
	}
	return out, nil
}

// some keeps rows until it has enough.
func some(rows []Row) []Row {
	out := []Row{}
	for _, row := range rows {
		if row.ID > 3 {
			out = append(out, row)
		}
		if len(out) >= pageSize {
			break
		}
	}
	return out
}

// names keeps rows and may fail.
func names(ctx context.Context, db *sqlx.DB, rows []Row, loud bool) ([]string, error) {
	var out []string
	for _, row := range rows {
		var n int
		if err := db.GetContext(ctx, &n, "SELECT COUNT(*) FROM u WHERE id = ?", row.ID); err != nil {
			return nil, err
		}
		if n > 0 {
			out = append(out, row.Name)
		}
		if len(out) == 5 {
			break
		}
	}
	return out, nil
}

// Given: a function without an error keeps some.
func Given(db *sqlx.DB) ([]Row, error) {
	rows := []Row{}
	if err := db.Select(&rows, "SELECT * FROM t ORDER BY name"); err != nil { // want `some stops after 20 that pass its conditions; read 80 rows first`
		return nil, err
	}
	kept := some(rows)
	return kept, nil
}

// GivenBoth: a function with an error keeps some, and an argument is computed.
func GivenBoth(ctx context.Context, db *sqlx.DB, r *http.Request) []string {
	var rows []Row
	err := db.SelectContext(ctx, &rows, "SELECT * FROM t ORDER BY id DESC") // want `names stops after 5 that pass its conditions; read 64 rows first`
	if err != nil {
		return nil
	}
	kept, err := names(ctx, db, rows, r.FormValue("loud") != "")
	if err != nil {
		log.Print(err)
		return nil
	}
	return kept
}
