package main

import (
	"fmt"

	"github.com/jmoiron/sqlx"
)

// A Score has small columns only.
type Score struct {
	ID      string `db:"id"`
	Player  string `db:"player_id"`
	Contest string `db:"contest_id"`
	Points  int64  `db:"points"`
	RowNum  int64  `db:"row_num"`
	Created int64  `db:"created_at"`
}

func openFile(id int) (*sqlx.DB, error) {
	return sqlx.Open("sqlite", fmt.Sprintf("file:%d.db?_pragma=busy_timeout(5000)", id))
}

// Best reads a list of a SQLite file.
func Best(id int, contest string) (best int64, err error) {
	db, err := openFile(id)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var rows []Score
	if err := db.Select(&rows, "SELECT * FROM score WHERE contest_id = ? ORDER BY row_num DESC", contest); err != nil { // want `APP203: id, contest_id, created_at are read from a SQLite file and by no code`
		return 0, err
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.Player] {
			continue
		}
		seen[r.Player] = true
		best = max(best, r.Points, r.RowNum)
	}
	return best, nil
}

// Sum passes the pool on, and the rows come in any order.
func Sum(id int) (int64, error) {
	db, err := openFile(id)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return sum(db)
}

func sum(db *sqlx.DB) (n int64, err error) {
	var rows []Score
	if err := db.Select(&rows, "SELECT * FROM score"); err != nil { // want `APP203: id, player_id, contest_id, row_num, created_at are read`
		return 0, err
	}
	for i := range rows {
		n += rows[i].Points
	}
	return n, nil
}
