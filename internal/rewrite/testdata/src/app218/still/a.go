package main

import (
	"database/sql"
	"os"
)

// Stored: a caller keeps the pool.
func openStored() (*sql.DB, error) { return sql.Open("sqlite", "file:a.db") }

var stored *sql.DB

func Stored() error {
	db, err := openStored()
	stored = db
	return err
}

// Closed: it is closed where a transaction of another request may run.
func openClosed() (*sql.DB, error) { return sql.Open("sqlite", "file:b.db") } // want `APP218`

func Closed() error {
	db, err := openClosed()
	if err != nil {
		return err
	}
	return db.Close()
}

// Limited: a caller sets limits.
func openLimited() (*sql.DB, error) { return sql.Open("sqlite", "file:c.db") } // want `APP218`

func Limited() error {
	db, err := openLimited()
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	return db.Ping()
}

// Memory: each database in memory is one of its own.
func openMemory() (*sql.DB, error) { return sql.Open("sqlite", "file::memory:") }

func Memory() error {
	db, err := openMemory()
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Ping()
}

// Server: no file.
func openServer() (*sql.DB, error) { return sql.Open("mysql", os.Getenv("DSN")) }

func Server() error {
	db, err := openServer()
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Ping()
}

// Sent: the function sends a statement first.
func openSent() (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:d.db") // want `APP218`
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec("PRAGMA foreign_keys = ON"); err != nil {
		return nil, err
	}
	return db, nil
}

func Sent() error {
	db, err := openSent()
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Ping()
}

// once is opened once: nothing closes it.
func openOnce() (*sql.DB, error) { return sql.Open("sqlite", "file:e.db") }

func Once() (*sql.DB, error) {
	db, err := openOnce()
	if err != nil {
		return nil, err
	}
	return db, db.Ping()
}

func main() {}
