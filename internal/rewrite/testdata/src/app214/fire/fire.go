package fire

import (
	"database/sql"
	"math/rand"
	randv2 "math/rand/v2"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// dropShare is the share of reports that are discarded.
const dropShare = 0.9

const (
	workers  = 4
	pollTime = 100 * time.Millisecond
	pageSize = 500
)

func Report(w http.ResponseWriter, r *http.Request) {
	if rand.Float64() < dropShare { // want `a share of the work is chosen at random \(0.9\)`
		w.WriteHeader(http.StatusAccepted)
		return
	}
}

func Mirrored(w http.ResponseWriter) {
	if 0.25 > randv2.Float64() && w != nil { // want `chosen at random`
		return
	}
	w.WriteHeader(http.StatusOK)
}

func Percent(n int) int {
	if rand.Intn(100) < 80 { // want `chosen at random \(80\)`
		return 0
	}
	return n
}

func OneOfTen(r *rand.Rand, refresh func()) {
	if r.Intn(10) == 0 { // want `chosen at random \(10\)`
		refresh()
	}
}

func AllButOne() bool {
	if randv2.IntN(5) != 0 { // want `chosen at random \(5\)`
		return false
	}
	return true
}

func Sometimes(refresh func()) {
	if rand.Float32() <= 0.1 { // want `chosen at random \(0.1\)`
		refresh()
	}
}

func Poll(ready func() bool) {
	for !ready() {
		time.Sleep(pollTime) // want `sleeps for a fixed time`
	}
}

func Wait() {
	time.Sleep(2 * time.Second) // want `sleeps for a fixed time \(2 \* time.Second\)`
}

func WaitOne() {
	time.Sleep(time.Second) // want `sleeps for a fixed time \(time.Second\)`
}

func Tick(flush func()) {
	t := time.NewTicker(time.Minute) // want `fixed interval`
	for range t.C {
		flush()
	}
}

func Pool(db *sql.DB) {
	db.SetMaxOpenConns(10) // want `a pool has a fixed size \(10\)`
	db.SetMaxIdleConns(2)  // want `a pool has a fixed size \(2\)`
}

func Transport() *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: 8} // want `a pool has a fixed size \(8\)`
}

type options struct{ PoolSize int }

func Options() options {
	var o options
	o.PoolSize = 12 // want `a pool has a fixed size \(12\)`
	return o
}

func Queue() chan int {
	return make(chan int, 64) // want `fixed capacity \(64\)`
}

func Workers(work func()) {
	for i := 0; i < workers; i++ { // want `a fixed number of goroutines works \(4\)`
		go work()
	}
}

func Group(work func()) {
	var wg sync.WaitGroup
	for range 3 { // want `a fixed number of goroutines works \(3\)`
		wg.Go(work)
	}
	wg.Wait()
}

func Limits() (*semaphore.Weighted, *rate.Limiter) {
	var g errgroup.Group
	g.SetLimit(6)                                                        // want `fixed number of goroutines \(6\)`
	return semaphore.NewWeighted(7), rate.NewLimiter(rate.Limit(100), 1) // want `a semaphore admits a fixed number \(7\)` `a limiter admits a fixed rate`
}

func Batches(ids []int, send func([]int)) {
	for i := 0; i < len(ids); i += pageSize { // want `batches of a fixed size \(500\)`
		send(ids[i:min(i+pageSize, len(ids))])
	}
}
