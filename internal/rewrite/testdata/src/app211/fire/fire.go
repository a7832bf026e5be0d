package fire

import (
	"database/sql"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

var mu sync.Mutex

type app struct {
	sync.Mutex
	rw    sync.RWMutex
	db    *sql.DB
	cache map[string]string
}

func (a *app) Deferred(w http.ResponseWriter, r *http.Request) {
	a.Lock() // want `a statement runs while the lock a is held`
	defer a.Unlock()
	a.db.Exec("UPDATE t SET n = n + 1")
}

func (a *app) Field(w http.ResponseWriter, r *http.Request) {
	a.rw.Lock() // want `a statement runs while the lock a.rw is held`
	rows, err := a.db.Query("SELECT id FROM t")
	a.rw.Unlock()
	if err == nil {
		rows.Close()
	}
}

func Global(w http.ResponseWriter, r *http.Request) {
	mu.Lock() // want `another server is requested while the lock mu is held`
	defer mu.Unlock()
	if res, err := http.Get("http://127.0.0.1/"); err == nil {
		res.Body.Close()
	}
}

func (a *app) load(key string) string {
	var v string
	a.db.QueryRow("SELECT v FROM t WHERE k = ?", key).Scan(&v)
	return v
}

func (a *app) Helper(w http.ResponseWriter, r *http.Request) {
	a.rw.Lock() // want `a statement runs`
	defer a.rw.Unlock()
	a.cache["x"] = a.load("x")
}

func Program(w http.ResponseWriter, r *http.Request) {
	mu.Lock() // want `a program runs`
	defer mu.Unlock()
	exec.Command("true").Run()
}

func File(w http.ResponseWriter, r *http.Request) {
	mu.Lock() // want `a file is read or written`
	b, _ := os.ReadFile("x")
	mu.Unlock()
	w.Write(b)
}

func Sleep(w http.ResponseWriter, r *http.Request) {
	mu.Lock() // want `the code sleeps`
	defer mu.Unlock()
	time.Sleep(time.Second)
}

func Flock(w http.ResponseWriter, r *http.Request) {
	f, _ := os.Open("lock")
	defer f.Close()
	syscall.Flock(int(f.Fd()), syscall.LOCK_EX) // want `a file is locked for each request`
}

func Branch(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	if r.Method == http.MethodPost {
		mu.Lock() // want `a statement runs`
		db.Exec("DELETE FROM t")
		mu.Unlock()
	}
}

func Route(db *sql.DB) {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock() // want `a statement runs`
		defer mu.Unlock()
		db.Exec("DELETE FROM t")
	})
}

func Locker(w http.ResponseWriter, l sync.Locker) {
	l.Lock() // want `a file is read`
	defer l.Unlock()
	os.ReadDir(".")
}
