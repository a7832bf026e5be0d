package main

import (
	"database/sql"
	"fmt"
)

// Lookalikes of forms that other people write.

// NotesFailure: what handles the error stores the row that failed.
func NotesFailure(db *sql.DB, items []Item) error {
	for _, it := range items {
		if _, err := db.Exec("INSERT INTO item (name) VALUES (?)", it.Name); err != nil { // want `APP204`
			db.Exec("UPDATE failure SET name = ? WHERE id = 1", it.Name)
			return err
		}
	}
	return nil
}

// BranchReads: the branch reads the table beside its row.
func BranchReads(tx *sql.Tx, items []Item) error {
	for _, it := range items {
		if it.ID > 0 {
			var n int
			if err := tx.QueryRow("SELECT COUNT(*) FROM item").Scan(&n); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO item (name, n) VALUES (?, ?)", it.Name, n); err != nil { // want `APP204`
				return err
			}
		}
	}
	return nil
}

// BranchStops: a branch without a row leaves the function, and the rows before it stay.
func BranchStops(db *sql.DB, items []Item) error {
	for _, it := range items {
		if it.Name != "" {
			if _, err := db.Exec("INSERT INTO item (name) VALUES (?)", it.Name); err != nil { // want `APP204`
				return fmt.Errorf("%d: %w", it.ID, err)
			}
		} else {
			return fmt.Errorf("no name")
		}
	}
	return nil
}

// BranchGoesOn: an error in the branch leaves out one row only.
func BranchGoesOn(tx *sql.Tx, items []Item) {
	for _, it := range items {
		if it.ID > 0 {
			if _, err := tx.Exec("INSERT INTO item (name) VALUES (?)", it.Name); err != nil { // want `APP204`
				continue
			}
		}
	}
}

// Twice: one argument has two placeholders of PostgreSQL.
func Twice(tx *sql.Tx, items []Item) error {
	for _, it := range items {
		if _, err := tx.Exec("INSERT INTO item (name, label) VALUES ($1, $1)", it.Name); err != nil {
			return err
		}
	}
	return nil
}

// Clashes: the statement's handle has the name of what the error names.
func Clashes(item *sql.Tx, items []Item) error {
	stmt, err := item.Prepare("INSERT INTO item (name) VALUES (?)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, item := range items {
		if _, err := stmt.Exec(item.Name); err != nil { // want `APP204`
			return fmt.Errorf("%s: %w", item.Name, err)
		}
	}
	return nil
}
