package main

import (
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// Rows: the number of rows is used, too.
func Rows(db *sqlx.DB) (int64, int64, error) {
	r, err := db.Exec("REPLACE INTO id_generator (stub) VALUES (?)", "a")
	if err != nil {
		return 0, 0, err
	}
	n, err := r.RowsAffected()
	if err != nil {
		return 0, 0, err
	}
	id, err := r.LastInsertId()
	return id, n, err
}

// InTransaction: a rollback takes the id back.
func InTransaction(tx *sql.Tx) (int64, error) {
	r, err := tx.Exec("REPLACE INTO id_generator (stub) VALUES (?)", "a")
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// Insert: each id leaves a row.
func Insert(db *sql.DB) (int64, error) {
	r, err := db.Exec("INSERT INTO id_generator (stub) VALUES (?)", "a")
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// Wide: the table has more than the ids.
func Wide(db *sql.DB) (int64, error) {
	r, err := db.Exec("REPLACE INTO users (name) VALUES (?)", "a")
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// Unknown: nothing is known of the table.
func Unknown(db *sql.DB) (int64, error) {
	r, err := db.Exec("REPLACE INTO unknown (stub) VALUES (?)", "a")
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// Given: the result goes elsewhere.
func Given(db *sql.DB) (sql.Result, error) {
	r, err := db.Exec("REPLACE INTO id_generator (stub) VALUES (?)", "a")
	return r, err
}

func main() {}
