package main

import (
	"database/sql"
	"net/http"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// The wait is behind the commit.
func After(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	time.Sleep(time.Second)
	return nil
}

// The wait is before the transaction.
func Before(db *sqlx.DB) error {
	time.Sleep(time.Second)
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	return tx.Commit()
}

// Both branches end it.
func Branches(db *sql.DB, keep bool) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if keep {
		err = tx.Commit()
	} else {
		err = tx.Rollback()
	}
	time.Sleep(time.Second)
	return err
}

// Each try is a transaction of its own.
func Retry(db *sql.DB) (err error) {
	for range 3 {
		var tx *sql.Tx
		if tx, err = db.Begin(); err != nil {
			time.Sleep(time.Second)
			continue
		}
		if err = tx.Commit(); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

// Nobody waits for what is started beside.
func Beside(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	go http.Get("http://127.0.0.1/")
	return tx.Commit()
}

// What is deferred runs later.
func Deferred(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer time.Sleep(time.Second)
	return tx.Commit()
}

type names struct {
	mu  sync.Mutex
	all map[int]string
}

// The lock is held for a moment.
func (n *names) Moment(tx *sql.Tx, id int) error {
	n.mu.Lock()
	name := n.all[id]
	n.mu.Unlock()
	_, err := tx.Exec("INSERT INTO names (name) VALUES (?)", name)
	return err
}

// A handler that is made here runs later.
func Handler(tx *sql.Tx) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Second) }
}

// Without a transaction.
func Pool(db *sql.DB) error {
	if _, err := db.Exec("UPDATE t SET n = 1"); err != nil {
		return err
	}
	time.Sleep(time.Second)
	return nil
}

// It waits for the database when the program starts.
func main() {
	db, err := sql.Open("mysql", "app")
	if err != nil {
		panic(err)
	}
	tx, err := db.Begin()
	if err != nil {
		panic(err)
	}
	time.Sleep(time.Second)
	tx.Commit()
}

// A word is no statement.
func Word(tx *sql.Tx, log func(string)) error {
	log("sleep well")
	return tx.Commit()
}
