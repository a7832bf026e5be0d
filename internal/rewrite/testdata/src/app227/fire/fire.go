package fire

import (
	"context"
	"database/sql"
	"net/http"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"
)

const pollTime = 50 * time.Millisecond

// A queue is polled in one transaction, by a helper.
func Poll(db *sqlx.DB) (id int, err error) {
	tx, err := db.Beginx()
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if id, err = waiting(tx); err != nil {
		return 0, err
	}
	if _, err := tx.Exec("UPDATE tasks SET taken = TRUE WHERE id = ?", id); err != nil {
		return 0, err
	}
	return id, tx.Commit()
}

func waiting(db sqlx.Queryer) (id int, err error) {
	for range 10 {
		if err = sqlx.Get(db, &id, "SELECT id FROM tasks WHERE NOT taken ORDER BY id LIMIT 1"); err == nil {
			return id, nil
		}
		time.Sleep(pollTime) // want `the code sleeps in the transaction that begins in line 19`
	}
	return 0, err
}

// Another server confirms a payment.
func Pay(db *sql.DB, order int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE orders SET state = 'paying' WHERE id = ?", order); err != nil {
		tx.Rollback()
		return err
	}
	res, err := http.Post("http://127.0.0.1/pay", "application/json", nil) // want `another server is requested in the transaction that begins in line 45`
	if err != nil {
		tx.Rollback()
		return err
	}
	res.Body.Close()
	return tx.Commit()
}

// A picture is made by a program.
func Thumbnail(ctx context.Context, db *sql.DB, id int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "UPDATE pictures SET state = 1 WHERE id = ?", id); err != nil {
		return err
	}
	if err := exec.CommandContext(ctx, "convert", "a.png", "b.png").Run(); err != nil { // want `a program runs in the transaction`
		return err
	}
	return tx.Commit()
}

type shop struct {
	db *sqlx.DB
	mu sync.Mutex
}

// All buyers wait for one lock, and hold a connection each.
func (s *shop) Buy(w http.ResponseWriter, r *http.Request) {
	tx := s.db.MustBegin()
	s.mu.Lock() // want `a lock is waited for that others hold while they wait in the transaction that begins in line 85`
	tx.MustExec("UPDATE items SET stock = stock - 1")
	s.mu.Unlock()
	tx.Commit()
}

// A helper gets the transaction.
func Notify(tx *sql.Tx, user int) error {
	if _, err := tx.Exec("INSERT INTO notices (user) VALUES (?)", user); err != nil {
		return err
	}
	_, err := http.Get("http://127.0.0.1/notify") // want `another server is requested in the transaction tx`
	return err
}

// A closure gets it.
func Closure(run func(func(tx *sqlx.Tx) error) error) error {
	return run(func(tx *sqlx.Tx) error {
		time.Sleep(time.Second) // want `the code sleeps in the transaction tx`
		_, err := tx.Exec("DELETE FROM old")
		return err
	})
}

// A lock of the database is waited for by its name.
func Named(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var got int
	if err := tx.QueryRow("SELECT GET_LOCK('seats', 10)").Scan(&got); err != nil { // want `a lock of the database is waited for by its name`
		return err
	}
	return tx.Commit()
}

// The lock of a file.
func File(db *sql.DB, fd int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil { // want `the lock of a file is waited for`
		return err
	}
	return tx.Commit()
}

// The server sleeps.
func Server(tx *sql.Tx) error {
	_, err := tx.Exec("DO SLEEP(1)") // want `a statement sleeps`
	return err
}

// One branch commits, the other one goes on.
func Branch(db *sql.DB, early bool) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if early {
		return tx.Commit()
	}
	time.Sleep(pollTime) // want `the code sleeps`
	return tx.Rollback()
}
