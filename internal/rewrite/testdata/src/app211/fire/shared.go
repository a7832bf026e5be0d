package fire

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"syscall"
)

type held struct{ f *os.File }

func (h held) Close() error {
	defer h.f.Close()
	return syscall.Flock(int(h.f.Fd()), syscall.LOCK_UN)
}

// lockFile locks the file of a shop.
func lockFile(shop string) (held, error) {
	f, err := os.OpenFile(shop+".lock", os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return held{}, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil { // want `a file is locked for each request; share the lock`
		return held{}, fmt.Errorf("locking %s: %w", shop, err)
	}
	return held{f}, nil
}

func name(db *sql.DB, id string) (name string, err error) {
	err = db.QueryRow("SELECT name FROM t WHERE id = ?", id).Scan(&name)
	return name, err
}

// Reads only reads.
func Reads(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	lock, err := lockFile(r.FormValue("shop"))
	if err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	defer lock.Close()
	n := 0
	found, err := name(db, r.FormValue("id"))
	if err != nil {
		http.Error(w, err.Error(), 500)
		return
	}
	sizes := make(map[string]int)
	sizes[found] = len(found)
	n += sizes[found]
	json.NewEncoder(w).Encode(n)
}

// Writes writes.
func Writes(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	lock, err := lockFile(r.FormValue("shop"))
	if err != nil {
		return
	}
	defer lock.Close()
	if _, err := name(db, r.FormValue("id")); err != nil {
		db.Exec("INSERT INTO t (name) VALUES (?)", r.FormValue("id"))
	}
}

var seen = map[string]int{}

// Counts sets what others share.
func Counts(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	lock, err := lockFile(r.FormValue("shop"))
	if err != nil {
		return
	}
	defer lock.Close()
	found, _ := name(db, r.FormValue("id"))
	seen[found]++
}

// InPlace locks and reads by itself.
func InPlace(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	f, err := os.Open("lock")
	if err != nil {
		return
	}
	defer f.Close()
	syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) // want `a file is locked for each request`
	found, _ := name(db, r.FormValue("id"))
	fmt.Fprint(w, found)
}
