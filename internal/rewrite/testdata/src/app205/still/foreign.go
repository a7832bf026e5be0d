package main

import (
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"
)

// Lookalikes of forms that other people write.

type Stay struct {
	Room  int64
	Guest *User
	Name  string
}

// RowStored: the loop writes the table that it reads.
func RowStored(db *sql.DB, stays []Stay) error {
	for _, s := range stays {
		var name string
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", s.Room).Scan(&name); err != nil { // want `APP205`
			return err
		}
		if _, err := db.Exec("UPDATE users SET name = ? WHERE id = ?", name+"!", s.Room+1); err != nil {
			return err
		}
	}
	return nil
}

// RowGuarded: the key is behind a pointer that may be nil.
func RowGuarded(db *sql.DB, stays []Stay) error {
	for i, s := range stays {
		if s.Guest != nil {
			if err := db.QueryRow("SELECT name FROM users WHERE id = ?", s.Guest.ID).Scan(&stays[i].Name); err != nil { // want `APP205`
				return err
			}
		}
	}
	return nil
}

// RowReturned: a pointer that is nil ends the loop.
func RowReturned(db *sql.DB, stays []Stay) error {
	for i, s := range stays {
		if s.Guest == nil {
			return errors.New("no guest")
		}
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", s.Guest.ID).Scan(&stays[i].Name); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// RowRange: the key is an element of another list, which may be shorter.
func RowRange(db *sql.DB, stays []Stay, ids []int64) error {
	for i := range stays {
		if i < len(ids) {
			if err := db.QueryRow("SELECT name FROM users WHERE id = ?", ids[i]).Scan(&stays[i].Name); err != nil { // want `APP205`
				return err
			}
		}
	}
	return nil
}

// RowTx: a failed statement would end the transaction of PostgreSQL.
func RowTx(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		var name string
		if err := tx.QueryRow("SELECT name FROM users WHERE id = $1", id).Scan(&name); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// RowAny: a value is scanned into what has no type of its own.
func RowAny(db *sql.DB, ids []int64) (out []any, err error) {
	for _, id := range ids {
		var v any
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&v); err != nil { // want `APP205`
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// RowLater: the key is set again in the round.
func RowLater(db *sql.DB, ids []int64) error {
	for _, id := range ids {
		key := id
		for key > 0 {
			var team int64
			if err := db.QueryRow("SELECT team_id FROM users WHERE id = ?", key).Scan(&team); err != nil {
				return err
			}
			key = team
		}
	}
	return nil
}

// RowGroups: the rows of a key are grouped, and the first group is read.
func RowGroups(db *sqlx.DB, teams []int) error {
	for _, team := range teams {
		var n int
		if err := db.Get(&n, "SELECT COUNT(*) FROM users WHERE team_id = ? GROUP BY name", team); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// Page: the statement has a LIMIT that cuts its rows otherwise.
func Page(db *sql.DB, teams []int, skip int) error {
	for _, team := range teams {
		var name string
		if err := db.QueryRow("SELECT name FROM users WHERE team_id = ? ORDER BY id LIMIT 2", team).Scan(&name); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// RowReplaced: a REPLACE may take the place of a row that was read ahead.
func RowReplaced(db *sql.DB, names []string) error {
	for _, name := range names {
		var id int64
		if err := db.QueryRow("SELECT id FROM users WHERE name = ?", name).Scan(&id); err != nil { // want `APP205`
			return err
		}
		if _, err := db.Exec("REPLACE INTO users (id, name) VALUES (?, ?)", id+1, name); err != nil {
			return err
		}
	}
	return nil
}

// RowGrown: rows that are inserted count.
func RowGrown(db *sql.DB, teams []int64) error {
	for _, team := range teams {
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM users WHERE team_id = ?", team).Scan(&n); err != nil { // want `APP205`
			return err
		}
		if _, err := db.Exec("INSERT INTO users (team_id) VALUES (?)", n); err != nil {
			return err
		}
	}
	return nil
}
