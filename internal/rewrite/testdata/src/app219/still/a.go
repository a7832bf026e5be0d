package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"

	"github.com/jmoiron/sqlx"
)

func open() (*sql.DB, error) { return sql.Open("sqlite", "file:a.db?_pragma=busy_timeout(5000)") }

func openServer() (*sql.DB, error) { return sql.Open("mysql", os.Getenv("DSN")) }

func openAny(driver, dsn string) (*sql.DB, error) { return sql.Open(driver, dsn) }

// Server: transactions of a server may wait for each other in a circle.
func Server(names []string) error {
	db, err := openServer()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil {
			return err
		}
	}
	return nil
}

// Unknown: it may be a server.
func Unknown(names []string) error {
	db, err := openAny(os.Getenv("DRIVER"), os.Getenv("DSN"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil {
			return err
		}
	}
	return nil
}

// Either: one caller has a file, and one a server.
func Either() error {
	a, err := open()
	if err != nil {
		return err
	}
	b, err := openServer()
	if err != nil {
		return err
	}
	if err := either(a); err != nil {
		return err
	}
	return either(b)
}

func either(db *sql.DB) error {
	for i := range 10 {
		if _, err := db.Exec("INSERT INTO player (n) VALUES (?)", i); err != nil {
			return err
		}
	}
	return nil
}

// Transaction: it has one.
func Transaction(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, name := range names {
		if _, err := tx.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// ReadsFirst: a transaction that begins as a reader may fail when it writes.
func ReadsFirst(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM player WHERE name = ?", name).Scan(&n); err != nil {
			return err
		}
		if _, err := db.Exec("INSERT INTO player (name, n) VALUES (?, ?)", name, n); err != nil { // want `APP219`
			return err
		}
	}
	return nil
}

// Conditional: the first write may not happen before the read.
func Conditional(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != "" {
			if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
				return err
			}
		}
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM player").Scan(&n); err != nil {
			return err
		}
	}
	return nil
}

// GoesOn: rows before a bad one stay stored, and the caller hears of success.
func GoesOn(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "" {
			return nil
		}
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return err
		}
	}
	return nil
}

// Maybe: what the function returns may be nil.
func Maybe(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return accepted(err)
		}
	}
	return nil
}

func accepted(err error) error {
	if err.Error() == "constraint failed" {
		return nil
	}
	return err
}

// SecondPool: a write by another pool of the same file would wait for the transaction.
func SecondPool(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return err
		}
		if err := logged(name); err != nil {
			return err
		}
	}
	return nil
}

func logged(name string) error {
	db, err := open()
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec("INSERT INTO log (name) VALUES (?)", name)
	return err
}

// SamePool: a function gets the pool as a pool.
func SamePool(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return err
		}
		if err := noted(db, name); err != nil {
			return err
		}
	}
	return nil
}

func noted(db *sql.DB, name string) error {
	_, err := db.Exec("INSERT INTO note (name) VALUES (?)", name)
	return err
}

// OtherPool: a function that sends through the transaction gets another pool, too.
func OtherPool(ctx context.Context, names []string) error {
	db, err := openx()
	if err != nil {
		return err
	}
	second, err := openx()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := db.ExecContext(ctx, "INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return err
		}
		if err := marked(ctx, db, name); err != nil {
			return err
		}
		if err := marked(ctx, second, name); err != nil {
			return err
		}
	}
	return nil
}

func openx() (*sqlx.DB, error) { return sqlx.Open("sqlite", "file:b.db?_pragma=busy_timeout(5000)") }

func marked(ctx context.Context, db sqlx.ExtContext, name string) error {
	_, err := db.ExecContext(ctx, "UPDATE player SET marked = 1 WHERE name = ?", name)
	return err
}

// OpenRows: the rows of a query hold the connection of a transaction.
func OpenRows(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return err
		}
		rows, err := db.Query("SELECT name FROM player")
		if err != nil {
			return err
		}
		for rows.Next() {
			if _, err := db.Exec("UPDATE player SET n = n + 1"); err != nil {
				return err
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Waits: the loop waits for its elements, and the file would be locked meanwhile.
func Waits(names chan string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return err
		}
	}
	return nil
}

// Reads: the loop reads another file, which may take long.
func Reads(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := db.Exec("INSERT INTO page (name, text) VALUES (?, ?)", name, text); err != nil { // want `APP219`
			return err
		}
	}
	return nil
}

var guard sync.Mutex

// Locks: another request holds the mutex while it writes to the file.
func Locks(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return err
		}
		count()
	}
	return nil
}

var counted int

func count() {
	guard.Lock()
	defer guard.Unlock()
	counted++
}

func Guarded(db *sql.DB) error {
	guard.Lock()
	defer guard.Unlock()
	_, err := db.Exec("DELETE FROM player")
	return err
}

// NoError: a failed commit could not be returned.
func NoError(names []string) {
	db, err := open()
	if err != nil {
		return
	}
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			fmt.Println(err)
		}
	}
}

// Parallel: statements of several goroutines cannot be in one transaction.
func Parallel(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return err
		}
		wg.Go(func() { db.Exec("UPDATE player SET n = 1 WHERE name = ?", name) })
	}
	wg.Wait()
	return nil
}

// Set: the variable of the pool is another one in the next round.
func Set(names []string) error {
	db, err := open()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := db.Exec("INSERT INTO player (name) VALUES (?)", name); err != nil { // want `APP219`
			return err
		}
		if db, err = open(); err != nil {
			return err
		}
	}
	return nil
}

// Once: one write is a transaction.
func Once(name string) error {
	db, err := open()
	if err != nil {
		return err
	}
	_, err = db.Exec("INSERT INTO player (name) VALUES (?)", name)
	return err
}

func main() {}
