package main

import (
	"database/sql"
	"math/rand"
	"net/http"
	"time"
)

const pageSize = 20

// A page that is cut is an answer, not a throttle.
func Page(rows []int) []int {
	if len(rows) > pageSize {
		rows = rows[:pageSize]
	}
	return rows
}

// A share that is computed is no constant.
func Share(p float64) bool {
	if rand.Float64() < p {
		return false
	}
	return true
}

// The number chooses a value, not whether work is done.
func Pick(names []string) string {
	return names[rand.Intn(len(names))]
}

// The comparison is a value, not a guard.
func Coin() bool {
	heads := rand.Float64() < 0.5
	return heads
}

// A channel of one is a signal.
func Signal() (chan struct{}, chan bool) {
	return make(chan struct{}, 1), make(chan bool)
}

// A deadline is no throttle.
func Deadline(done chan bool) bool {
	select {
	case <-done:
		return true
	case <-time.After(5 * time.Second):
		return false
	}
}

// A client's time limit is no throttle.
func Client() *http.Client {
	return &http.Client{Timeout: 3 * time.Second}
}

// The size comes from the configuration.
func Pool(db *sql.DB, size int) {
	db.SetMaxOpenConns(size)
}

// No limit is no throttle.
func Unlimited(db *sql.DB) {
	db.SetMaxOpenConns(0)
}

// A loop over a constant that does its work itself.
func Retry(try func() error) (err error) {
	for i := 0; i < 3; i++ {
		if err = try(); err == nil {
			return nil
		}
	}
	return err
}

// A slice has a capacity, too.
func Buffer() []byte {
	return make([]byte, 0, 4096)
}

// The sleep is computed.
func Backoff(n int) {
	time.Sleep(time.Duration(n) * time.Millisecond)
}

// A random number that is compared with a length.
func Chance(names []string) bool {
	return rand.Intn(100) < len(names)
}

// A map with room for a number of keys.
func Room() map[string]int {
	return make(map[string]int, 100)
}

// The database is waited for when the program starts, and no request waits.
func Connect(dsn string) (db *sql.DB, err error) {
	for i := 0; i < 60; i++ {
		if db, err = sql.Open("mysql", dsn); err == nil {
			return db, nil
		}
		time.Sleep(time.Second)
	}
	return nil, err
}

func main() {
	if _, err := Connect("app"); err != nil {
		panic(err)
	}
	time.Sleep(10 * time.Millisecond)
}
