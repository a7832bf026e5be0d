package still

import (
	"database/sql"
	"net/http"
	"os"
	"syscall"
)

func lockFile() (*os.File, error) {
	f, err := os.Open("lock")
	if err != nil {
		return nil, err
	}
	return f, syscall.Flock(int(f.Fd()), syscall.LOCK_EX) // want `a file is locked`
}

// WritesFile changes a file while it holds the lock.
func WritesFile(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	f, err := lockFile()
	if err != nil {
		return
	}
	defer f.Close()
	var n int
	db.QueryRow("SELECT n FROM t").Scan(&n)
	os.WriteFile("n", []byte{byte(n)}, 0o600)
}

// LocksRows locks the rows that it reads.
func LocksRows(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	f, err := lockFile()
	if err != nil {
		return
	}
	defer f.Close()
	var n int
	db.QueryRow("SELECT n FROM t FOR UPDATE").Scan(&n)
}

// SetsShared sets what the function was given.
func SetsShared(w http.ResponseWriter, r *http.Request, db *sql.DB, out *struct{ N int }) {
	f, err := lockFile()
	if err != nil {
		return
	}
	defer f.Close()
	db.QueryRow("SELECT n FROM t").Scan(&out.N)
	out.N++
}

var names = map[int]string{}

// SetsAlias sets what others share, by another name.
func SetsAlias(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	f, err := lockFile()
	if err != nil {
		return
	}
	defer f.Close()
	var n int
	db.QueryRow("SELECT n FROM t").Scan(&n)
	all := names
	all[n] = "seen"
}

// Nothing sends no statement.
func Nothing(w http.ResponseWriter, r *http.Request) {
	f, err := lockFile()
	if err != nil {
		return
	}
	defer f.Close()
	w.Write([]byte("alone"))
}
