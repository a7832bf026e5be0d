package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
)

type Item struct {
	ID   int64  `db:"id"`
	Name string `db:"name"`
}

// Identifier: each row's id is used.
func Identifier(tx *sql.Tx, items []Item) error {
	for i := range items {
		res, err := tx.Exec("INSERT INTO item (name) VALUES (?)", items[i].Name) // want `APP204`
		if err != nil {
			return err
		}
		items[i].ID, _ = res.LastInsertId()
	}
	return nil
}

// Ignored: the loop goes on after an error.
func Ignored(db *sql.DB, items []Item) {
	for _, it := range items {
		db.Exec("INSERT INTO item (name) VALUES (?)", it.Name) // want `APP204`
	}
}

// Continues: a row that fails is skipped.
func Continues(db *sql.DB, items []Item) {
	for _, it := range items {
		if _, err := db.Exec("INSERT INTO item (name) VALUES (?)", it.Name); err != nil { // want `APP204`
			continue
		}
	}
}

// Reads: the loop reads the table between its rows.
func Reads(tx *sqlx.Tx, items []Item) error {
	for _, it := range items {
		var n int
		if err := tx.Get(&n, "SELECT MAX(place) FROM item"); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO item (name, place) VALUES (?, ?)", it.Name, n+1); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Hidden: a function of the loop reads the table.
func Hidden(tx *sqlx.Tx, items []Item) error {
	for _, it := range items {
		if _, err := tx.Exec("INSERT INTO item (name, place) VALUES (?, ?)", it.Name, highest(tx)); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

func highest(tx *sqlx.Tx) (n int) {
	_ = tx.Get(&n, "SELECT MAX(place) FROM item")
	return n
}

// Update: the schema does not show the table.
func Update(tx *sql.Tx, items []Item) error {
	for _, it := range items {
		if _, err := tx.Exec("UPDATE item SET name = ? WHERE id = ?", it.Name, it.ID); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Copy: rows come from another table.
func Copy(tx *sql.Tx, items []Item) error {
	for _, it := range items {
		if _, err := tx.Exec("INSERT INTO item (name) SELECT name FROM old WHERE id = ?", it.ID); err != nil {
			return err
		}
	}
	return nil
}

// Last: a row uses the row before.
func Last(tx *sql.Tx, items []Item) error {
	for _, it := range items {
		if _, err := tx.Exec("INSERT INTO item (name, before_id) VALUES (?, LAST_INSERT_ID())", it.Name); err != nil {
			return err
		}
	}
	return nil
}

// Handles: each element has its own database.
func Handles(dbs []*sql.DB) error {
	for _, db := range dbs {
		if _, err := db.Exec("INSERT INTO item (name) VALUES (?)", "x"); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Transactions: one transaction for each element.
func Transactions(db *sql.DB, items []Item) error {
	for _, it := range items {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO item (name) VALUES (?)", it.Name); err != nil { // want `APP204`
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// Request: another effect stands between the rows.
func Request(tx *sql.Tx, items []Item) error {
	for _, it := range items {
		res, err := http.Get("http://localhost/" + it.Name)
		if err != nil {
			return err
		}
		res.Body.Close()
		if _, err := tx.Exec("INSERT INTO item (name) VALUES (?)", it.Name); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Half: without a transaction, the rows before the bad one stay.
func Half(db *sql.DB, items []Item) error {
	for _, it := range items {
		if it.Name == "" {
			return fmt.Errorf("no name")
		}
		if _, err := db.Exec("INSERT INTO item (name) VALUES (?)", it.Name); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Buffer: the argument's bytes change with each element.
func Buffer(tx *sql.Tx, items []Item) error {
	var buf []byte
	for _, it := range items {
		buf = append(buf[:0], it.Name...)
		if _, err := tx.Exec("INSERT INTO item (name) VALUES (?)", buf); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Pointer: all rows would see the last value.
func Pointer(tx *sql.Tx, items []Item) error {
	var name string
	for _, it := range items {
		name = it.Name
		if _, err := tx.Exec("INSERT INTO item (name) VALUES (?)", &name); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Waits: an element arrives when the one before is stored.
func Waits(db *sql.DB, items <-chan Item) error {
	for it := range items {
		if _, err := db.Exec("INSERT INTO item (name) VALUES (?)", it.Name); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Forever: the loop has no end.
func Forever(db *sql.DB) error {
	for {
		time.Sleep(time.Second)
		if _, err := db.Exec("INSERT INTO beat (at) VALUES (?)", time.Now()); err != nil { // want `APP204`
			return err
		}
	}
}

// Large: a row has no bound.
func Large(tx *sql.Tx, pictures [][]byte) error {
	for _, p := range pictures {
		if _, err := tx.Exec("INSERT INTO picture (data) VALUES (?)", p); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Once: no loop.
func Once(tx *sql.Tx, it Item) error {
	_, err := tx.Exec("INSERT INTO item (name) VALUES (?)", it.Name)
	return err
}

// Many: the statement has several rows already.
func Many(tx *sql.Tx, items []Item) error {
	for _, it := range items {
		if _, err := tx.Exec("INSERT INTO item (name) VALUES (?), (?)", it.Name, it.ID); err != nil {
			return err
		}
	}
	return nil
}

func main() {}
