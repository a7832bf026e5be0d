package main

import (
	"database/sql"
	"log"
	"strconv"

	"github.com/jmoiron/sqlx"
)

// Unbound: without a transaction, the rows before the bad one stay.
func Unbound(db *sqlx.DB, texts []string) error {
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			log.Print(err)
			return err
		}
		if _, err := db.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Keeps: the branch commits the rows before the bad one.
func Keeps(db *sqlx.DB, texts []string) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			return tx.Commit()
		}
		if _, err := tx.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
	}
	return tx.Commit()
}

// Stops: the caller receives no error and commits the rows before.
func Stops(tx *sql.Tx, texts []string) error {
	for _, text := range texts {
		if text == "end" {
			return nil
		}
		if _, err := tx.Exec("INSERT INTO number (text) VALUES (?)", text); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Unknown: nothing proves that the error is not nil.
func Unknown(tx *sql.Tx, texts []string) (err error) {
	for _, text := range texts {
		if text == "end" {
			return
		}
		if _, err := tx.Exec("INSERT INTO number (text) VALUES (?)", text); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Counts: the branch reads the rows back.
func Counts(db *sqlx.DB, texts []string) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			var rows int
			_ = tx.Get(&rows, "SELECT COUNT(*) FROM number")
			log.Printf("row %d: %v", rows, err)
			return err
		}
		if _, err := tx.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
	}
	return tx.Commit()
}

type session struct{ tx *sqlx.Tx }

func (s *session) note(err error) { s.tx.MustExec("INSERT INTO note (text) VALUES (?)", err.Error()) }

// Shares: the branch sends through another holder of the transaction.
func Shares(db *sqlx.DB, texts []string) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	s := &session{tx}
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			s.note(err)
			return err
		}
		if _, err := tx.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
	}
	return tx.Commit()
}

// Deferred: a deferred call commits what there is.
func Deferred(db *sqlx.DB, texts []string) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	defer func() { _ = tx.Commit() }()
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			log.Print(err)
			return err
		}
		if _, err := tx.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Given: the transaction has other holders, which the log may reach.
func Given(tx *sql.Tx, texts []string) error {
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			log.Print(err)
			return err
		}
		if _, err := tx.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Loose: no rollback is certain.
func Loose(db *sqlx.DB, texts []string, strict bool) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	if strict {
		defer tx.Rollback()
	}
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			log.Print(err)
			return err
		}
		if _, err := tx.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
	}
	return tx.Commit()
}

// Identified: the ids of the rows are used.
func Identified(db *sqlx.DB, texts []string) (ids []int64, err error) {
	tx, err := db.Beginx()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			log.Print(err)
			return nil, err
		}
		res, err := tx.Exec("INSERT INTO number (n) VALUES (?)", n) // want `APP204`
		if err != nil {
			return nil, err
		}
		id, _ := res.LastInsertId()
		ids = append(ids, id)
	}
	return ids, tx.Commit()
}

// Goes: the branch logs and goes on with the next element.
func Goes(db *sqlx.DB, texts []string) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			log.Print(err)
			continue
		}
		if _, err := tx.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
	}
	return tx.Commit()
}

// Whole: without names of columns, the row has all of the table's.
func Whole(tx *sql.Tx, pictures [][]byte) error {
	for _, p := range pictures {
		if _, err := tx.Exec("INSERT INTO picture VALUES (?)", p); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Latest must not be rewritten: it returns the error of the last text that is not a number.
func Latest(tx *sqlx.Tx, texts []string) (err error) {
	var n int
	for _, text := range texts {
		n, err = strconv.Atoi(text)
		if err != nil {
			continue
		}
		if _, err = tx.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
	}
	return err
}

// After: a statement behind the INSERT uses the error's variable.
func After(tx *sqlx.Tx, texts []string) (last error) {
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		if _, err = tx.Exec("INSERT INTO number (n) VALUES (?)", n); err != nil { // want `APP204`
			return err
		}
		last = err
	}
	return last
}

// TriesAgain: the loop ends with the first row that was added.
func TriesAgain(db *sql.DB) (id int64, err error) {
	for i := 0; i < 100; i++ {
		res, err := db.Exec("REPLACE INTO ticket (k) VALUES (?)", "a")
		if err != nil {
			if err.Error() == "deadlock" {
				continue
			}
			return 0, err
		}
		id, err = res.LastInsertId()
		if err != nil {
			return 0, err
		}
		break
	}
	return id, nil
}

// TriesToReturn: the loop returns with the first row that was added.
func TriesToReturn(db *sql.DB) error {
	for n := 3; n > 0; n-- {
		if _, err := db.Exec("INSERT INTO ticket (k) VALUES (?)", "a"); err != nil {
			continue
		}
		return nil
	}
	return sql.ErrNoRows
}
