package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strconv"

	"github.com/jmoiron/sqlx"
)

// A fields reads the fields of a record and keeps the first error.
type fields struct {
	record []string
	at     int
	err    error
}

func (f *fields) text() string {
	if f.err != nil {
		return ""
	}
	if f.at >= len(f.record) {
		f.err = errors.New("too few fields")
		return ""
	}
	f.at++
	return f.record[f.at-1]
}

func (f *fields) number() int {
	s := f.text()
	if f.err != nil {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		f.err = fmt.Errorf("field %d: %w", f.at, err)
	}
	return n
}

// Upload: a record that cannot be read ends the request, with a log and an answer; the
// log of a failure names an argument.
func Upload(w http.ResponseWriter, db *sqlx.DB, records [][]string) {
	tx, err := db.Begin()
	if err != nil {
		log.Printf("beginning: %v", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	defer tx.Rollback()
	for _, record := range records {
		f := fields{record: record}
		id := f.number()
		name := f.text()
		price := f.number()
		if f.err != nil {
			log.Printf("reading a record: %v", f.err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, err := tx.Exec("INSERT INTO chair (id, name, price) VALUES (?, ?, ?)", // want `APP204`
			id, name, price)
		if err != nil {
			log.Printf("storing chair %d: %v", id, err)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
	}
	if err := tx.Commit(); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// Import: the branch rolls back itself; the statement is prepared, and its error names
// two arguments.
func Import(ctx context.Context, db *sql.DB, prices map[string]string) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	stmt, err := tx.PrepareContext(ctx, "REPLACE INTO price (name, yen) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for name, text := range prices {
		yen, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			if err := tx.Rollback(); err != nil {
				log.Print(err)
			}
			return nil
		}
		if _, err := stmt.ExecContext(ctx, name, yen); err != nil { // want `APP204`
			tx.Rollback()
			return fmt.Errorf("storing %d for %s: %w", yen, name, err)
		}
	}
	return tx.Commit()
}

// Indexed: a closure rolls back; the loop counts, and stops without an error.
func Indexed(db *sqlx.DB, names []string) error {
	tx := db.MustBegin()
	defer func() {
		_ = tx.Rollback()
	}()
	for i := 0; i < len(names); i++ {
		if names[i] == "" {
			return nil
		} else if len(names[i]) > 20 {
			log.Printf("name %d is too long", i)
			return nil
		}
		tx.MustExec("INSERT INTO tag (id, name) VALUES (?, ?)", i, names[i]) // want `APP204`
	}
	return tx.Commit()
}

// Wide: rows have up to 50 kB, and a packet 16 MiB.
func Wide(tx *sql.Tx, texts []string) (err error) {
	for i, text := range texts {
		var n int
		if n, err = strconv.Atoi(text); err != nil {
			return
		}
		if _, err := tx.Exec("INSERT INTO wide VALUES (?, ?, ?)", i, n, text); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Reused: the error's variable is that of an earlier statement of the loop.
func Reused(db *sqlx.DB, records [][]string) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, record := range records {
		id, err := strconv.Atoi(record[0])
		if err != nil {
			return fmt.Errorf("reading %q: %w", record[0], err)
		}
		_, err = tx.Exec("INSERT INTO chair (id, name) VALUES (?, ?)", id, record[1]) // want `APP204`
		if err != nil {
			return fmt.Errorf("storing chair %d: %w", id, err)
		}
	}
	return tx.Commit()
}

// Checked: the error belongs to the function, and each one is looked at.
func Checked(tx *sqlx.Tx, texts []string) (err error) {
	var n, m int
	for _, text := range texts {
		n, err = strconv.Atoi(text)
		if err != nil {
			return err
		}
		if m, err = strconv.Atoi(text[1:]); err != nil {
			return err
		}
		if _, err = tx.Exec("INSERT INTO number (n, m) VALUES (?, ?)", n, m); err != nil { // want `APP204`
			return err
		}
	}
	return err
}
