package main

import (
	"encoding/json"
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

// A Shown is encoded.
type Shown struct {
	ID      string `db:"id"`
	Player  string `db:"player_id"`
	Contest string `db:"contest_id"`
	Points  int64  `db:"points"`
	RowNum  int64  `db:"row_num"`
	Created int64  `db:"created_at"`
}

// A Used is read by fields, and one is left over.
type Used struct {
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

// ServerSum: the rows come from a server, which sends them together.
func ServerSum() (n int64, err error) {
	db, err := sqlx.Open("mysql", "app@/app")
	if err != nil {
		return 0, err
	}
	var rows []Score
	if err := db.Select(&rows, "SELECT * FROM score"); err != nil {
		return 0, err
	}
	for _, r := range rows {
		n += r.Points
	}
	return n, nil
}

// AnySum: the pool may be any.
func AnySum(db *sqlx.DB) (n int64, err error) {
	var rows []Score
	if err := db.Select(&rows, "SELECT * FROM score"); err != nil {
		return 0, err
	}
	for _, r := range rows {
		n += r.Points
	}
	return n, nil
}

// OneScore reads one row.
func OneScore(id string) (int64, error) {
	db, err := openFile(1)
	if err != nil {
		return 0, err
	}
	var row Score
	err = db.Get(&row, "SELECT * FROM score WHERE id = ?", id)
	return row.Points, err
}

// OneOfList reads one row as a list.
func OneOfList(id string) (n int64, err error) {
	db, err := openFile(1)
	if err != nil {
		return 0, err
	}
	var rows []Score
	if err := db.Select(&rows, "SELECT * FROM score WHERE id = ?", id); err != nil {
		return 0, err
	}
	for _, r := range rows {
		n += r.Points
	}
	return n, nil
}

// EncodedScores: an encoder reads all fields.
func EncodedScores() ([]byte, error) {
	db, err := openFile(1)
	if err != nil {
		return nil, err
	}
	var rows []Shown
	if err := db.Select(&rows, "SELECT * FROM score"); err != nil {
		return nil, err
	}
	return json.Marshal(rows)
}

// MostUsed: one column is left over.
func MostUsed() (out string, err error) {
	db, err := openFile(1)
	if err != nil {
		return "", err
	}
	var rows []Used
	if err := db.Select(&rows, "SELECT * FROM score"); err != nil {
		return "", err
	}
	for _, r := range rows {
		out += r.ID + r.Player + r.Contest + fmt.Sprint(r.Points+r.Created)
	}
	return out, nil
}
