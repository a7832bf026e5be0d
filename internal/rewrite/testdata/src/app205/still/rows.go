package main

import (
	"database/sql"
	"fmt"
	"net/http"
)

// Loops over rows that have to stay as they are.

func nameFor(db *sql.DB, id int64) (name string, err error) {
	err = db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&name)
	return name, err
}

// RowsStored stores something for each row.
func RowsStored(db *sql.DB) error {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return err
		}
		if _, err := db.Exec("INSERT INTO visits (name) VALUES (?)", name); err != nil {
			return err
		}
	}
	return rows.Err()
}

// RowsAnswered sends each row when it comes.
func RowsAnswered(db *sql.DB, w http.ResponseWriter) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return
		}
		fmt.Fprintln(w, name)
	}
}

// RowsOutside reads into variables around the loop.
func RowsOutside(db *sql.DB) (last int64, names []string) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return 0, nil
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&last); err != nil {
			return 0, nil
		}
		name, err := nameFor(db, last)
		if err != nil {
			return 0, nil
		}
		names = append(names, name)
	}
	return last, names
}

// RowsRead goes on with the rows in the loop.
func RowsRead(db *sql.DB) (names []string) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil || !rows.Next() {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// RowsBytes keeps bytes that the next row takes.
func RowsBytes(db *sql.DB) (names []string) {
	rows, err := db.Query("SELECT id, title FROM posts")
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var title sql.RawBytes
		if err := rows.Scan(&id, &title); err != nil {
			return nil
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return nil
		}
		names = append(names, name+string(title))
	}
	return names
}

// RowsBefore asks before it reads the row.
func RowsBefore(db *sql.DB) (names []string) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return nil
	}
	defer rows.Close()
	id := int64(1)
	for rows.Next() {
		next := id + 1
		name, err := nameFor(db, next) // want `APP205`
		if err != nil {
			return nil
		}
		if err := rows.Scan(&id); err != nil {
			return nil
		}
		names = append(names, name)
	}
	return names
}
