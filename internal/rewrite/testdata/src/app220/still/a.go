package main

import (
	"database/sql"
	"errors"
	"os"

	"github.com/gofrs/flock"
)

func open() (*sql.DB, error) { return sql.Open("sqlite", "file:a.db?_pragma=busy_timeout(5000)") }

func lockTwice() (*flock.Flock, error) {
	lock := flock.New("Twice.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

// Twice: the writer commits twice, and a reader would see the state in between.
func Twice() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockTwice()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	return n, err
}

func writeTwice() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockTwice()
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := db.Exec("DELETE FROM score"); err != nil {
		return err
	}
	_, err = db.Exec("INSERT INTO score (n) VALUES (1)")
	return err
}

func lockLoop() (*flock.Flock, error) {
	lock := flock.New("Loop.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

// Loop: each round of the writer's loop commits.
func Loop() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockLoop()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	return n, err
}

func writeLoop() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockLoop()
	if err != nil {
		return err
	}
	defer lock.Close()
	for i := range 3 {
		if _, err := db.Exec("INSERT INTO score (n) VALUES (?)", i); err != nil {
			return err
		}
	}
	return nil
}

func lockReads() (*flock.Flock, error) {
	lock := flock.New("Reads.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

// Reads: two statements of the reader may see two states.
func Reads() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockReads()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	if err != nil {
		return 0, err
	}
	err = db.QueryRow("SELECT MAX(n) FROM score").Scan(&n)
	return n, err
}

func writeReads() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockReads()
	if err != nil {
		return err
	}
	defer lock.Close()
	_, err = db.Exec("UPDATE score SET n = 0")
	return err
}

func lockFile() (*flock.Flock, error) {
	lock := flock.New("File.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

// File: the writer also writes a file.
func File() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockFile()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	return n, err
}

func writeFile() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockFile()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := os.WriteFile("a", nil, 0o644); err != nil {
		return err
	}
	_, err = db.Exec("UPDATE score SET n = 0")
	return err
}

func lockMemory() (*flock.Flock, error) {
	lock := flock.New("Memory.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

var kept int

// Memory: the reader reads a variable that the writer sets.
func Memory() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockMemory()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	n += kept
	return n, err
}

func writeMemory() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockMemory()
	if err != nil {
		return err
	}
	defer lock.Close()
	kept = 1
	_, err = db.Exec("UPDATE score SET n = 0")
	return err
}

func lockWrites() (*flock.Flock, error) {
	lock := flock.New("Writes.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

// Writes: the reader writes.
func Writes() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockWrites()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	if _, err := db.Exec("UPDATE seen SET n = 1"); err != nil {
		return 0, err
	}
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	return n, err
}

func writeWrites() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockWrites()
	if err != nil {
		return err
	}
	defer lock.Close()
	_, err = db.Exec("UPDATE score SET n = 0")
	return err
}

func lockServer() (*flock.Flock, error) {
	lock := flock.New("Server.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

var admin, _ = sql.Open("mysql", os.Getenv("DSN"))

// Server: what the writer changes is in a server.
func Server() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockServer()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	admin.Exec("UPDATE seen SET n = 1")
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	return n, err
}

func writeServer() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockServer()
	if err != nil {
		return err
	}
	defer lock.Close()
	_, err = admin.Exec("UPDATE score SET n = 0")
	return errors.Join(err, db.Ping())
}

func lockHidden() (*flock.Flock, error) {
	lock := flock.New("Hidden.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

var hook func() error

// Hidden: what a function does is not known.
func Hidden() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockHidden()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	return n, err
}

func writeHidden() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockHidden()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := hook(); err != nil {
		return err
	}
	_, err = db.Exec("UPDATE score SET n = 0")
	return err
}

func lockPointer() (*flock.Flock, error) {
	lock := flock.New("Pointer.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

var shared = new(int)

// Pointer: a function literal of the reader sets what a variable refers to.
func Pointer() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockPointer()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	set := func(to *int) { *to = 1 }
	set(shared)
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	return n, err
}

func writePointer() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockPointer()
	if err != nil {
		return err
	}
	defer lock.Close()
	_, err = db.Exec("UPDATE score SET n = 0")
	return err
}

func lockIterates() (*flock.Flock, error) {
	lock := flock.New("Iterates.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

var elements chan int

// Iterates: the writer reads from a channel.
func Iterates() (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	lock, err := lockIterates()
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	return n, err
}

func writeIterates() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockIterates()
	if err != nil {
		return err
	}
	defer lock.Close()
	for range elements {
		<-elements
	}
	_, err = db.Exec("UPDATE score SET n = 0")
	return err
}

func lockEarly() (*flock.Flock, error) {
	lock := flock.New("early.lock")
	return lock, lock.Lock()
}

// Early: the lock is released before the end, and another part could be under it.
func Early() (n int, err error) {
	lock, err := lockEarly()
	if err != nil {
		return 0, err
	}
	db, err := open()
	if err != nil {
		return 0, err
	}
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	lock.Unlock()
	return n, err
}

// Direct: the function locks by itself.
func Direct() (n int, err error) {
	lock := flock.New("direct.lock")
	if err := lock.Lock(); err != nil {
		return 0, err
	}
	defer lock.Unlock()
	db, err := open()
	if err != nil {
		return 0, err
	}
	err = db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n)
	return n, err
}

func lockBranch() (*flock.Flock, error) {
	lock := flock.New("branch.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

// Branch: behind the branch, the table is read once more.
func Branch(all bool) (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	if all {
		lock, err := lockBranch()
		if err != nil {
			return 0, err
		}
		defer lock.Unlock()
		if err := db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n); err != nil {
			return 0, err
		}
	}
	err = db.QueryRow("SELECT MAX(n) FROM score").Scan(&n)
	return n, err
}

func writeBranch() error {
	db, err := open()
	if err != nil {
		return err
	}
	lock, err := lockBranch()
	if err != nil {
		return err
	}
	defer lock.Unlock()
	_, err = db.Exec("UPDATE score SET n = 0")
	return err
}

func lockRound() (*flock.Flock, error) {
	lock := flock.New("round.lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

// Round takes the lock in a loop.
func Round(rounds int) (n int, err error) {
	db, err := open()
	if err != nil {
		return 0, err
	}
	for range rounds {
		lock, err := lockRound()
		if err != nil {
			return 0, err
		}
		defer lock.Unlock()
		if err := db.QueryRow("SELECT COUNT(*) FROM score").Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func main() {}
