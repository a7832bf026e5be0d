package still

import (
	"database/sql"
	"net/http"
	"os"
	"sync"
	"syscall"
)

var (
	mu    sync.Mutex
	rw    sync.RWMutex
	cache = map[string]string{}
)

func Memory(w http.ResponseWriter, r *http.Request) {
	mu.Lock()
	defer mu.Unlock()
	cache[r.URL.Path] = "seen"
}

func Before(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	var v string
	db.QueryRow("SELECT v FROM t").Scan(&v)
	mu.Lock()
	cache["v"] = v
	mu.Unlock()
}

func After(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	mu.Lock()
	v := cache["v"]
	mu.Unlock()
	db.Exec("UPDATE t SET v = ?", v)
}

func Readers(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	rw.RLock()
	defer rw.RUnlock()
	db.Exec("UPDATE t SET n = n + 1")
}

// A lock of this call alone.
func Own(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	var own sync.Mutex
	own.Lock()
	db.Exec("UPDATE t SET n = n + 1")
	own.Unlock()
}

func Start(db *sql.DB) {
	mu.Lock()
	defer mu.Unlock()
	db.Exec("CREATE TABLE t (n INT)")
}

// The statement runs beside the lock.
func Beside(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	mu.Lock()
	defer mu.Unlock()
	go db.Exec("UPDATE t SET n = n + 1")
}

func Shared(w http.ResponseWriter, r *http.Request) {
	f, _ := os.Open("lock")
	defer f.Close()
	syscall.Flock(int(f.Fd()), syscall.LOCK_SH)
}

func Unlocked(w http.ResponseWriter, r *http.Request) {
	f, _ := os.Open("lock")
	defer f.Close()
	syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
}

func Try(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	if mu.TryLock() {
		defer mu.Unlock()
		db.Exec("UPDATE t SET n = n + 1")
	}
}

type lock struct{}

func (lock) Lock()   {}
func (lock) Unlock() {}

func Other(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	lock{}.Lock()
	db.Exec("UPDATE t SET n = n + 1")
	lock{}.Unlock()
}
