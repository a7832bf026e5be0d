package mine

import (
	"math/rand"
	"slices"
	"sync"
	"time"
)

// A License permits digs.
type License struct {
	ID      int `json:"id"`
	Allowed int `json:"digAllowed"`
	Used    int `json:"digUsed"`
}

// A licenser is the service that the server asks for each licence and each list of licences.
// It is slow and often fails, takes no ticks of the CPU, and any number may ask at once.
type licenser struct {
	mu   sync.Mutex
	rand *rand.Rand
	// timeouts is the share of the failures that take failSlow, in percent.
	timeouts int
}

// Shares in percent, and times of the service.
const (
	failFree     = 60 // of free licences and of lists
	failTimeouts = 10 // of the failures
	failQuick    = 10 * time.Millisecond
	failSlow     = time.Second
	serveLeast   = 10 * time.Millisecond
	serveRange   = 90 * time.Millisecond
)

// call draws what comes of a call: the status 200, 502 or 504, and how long it takes. fail is
// the share of failures in percent.
func (l *licenser) call(fail int) (status int, takes time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.rand.Intn(100) >= fail:
		return 200, serveLeast + time.Duration(l.rand.Int63n(int64(serveRange)))
	case l.rand.Intn(100) < l.timeouts:
		return 504, failSlow
	}
	return 502, failQuick
}

// digs is how many digs a licence for a number of coins permits. Coins above a threshold are
// lost.
func digs(coins int, r *rand.Rand) int {
	switch {
	case coins == 0:
		return 3
	case coins <= 5:
		return 5
	case coins <= 10:
		return 10
	case coins <= 20:
		return 20 + r.Intn(10)
	}
	return 40 + r.Intn(10)
}

// licenses are those of a client. A licence that is used up is removed.
type licenses struct {
	most   int
	next   int
	active map[int]*License
}

// use charges a dig. It returns false for a licence that is not active.
func (l *licenses) use(id int) bool {
	lic, ok := l.active[id]
	if !ok {
		return false
	}
	if lic.Used++; lic.Used == lic.Allowed {
		delete(l.active, id)
	}
	return true
}

// list returns the active licences, ordered by their ids.
func (l *licenses) list() []License {
	all := []License{}
	for _, lic := range l.active {
		all = append(all, *lic)
	}
	slices.SortFunc(all, func(a, b License) int { return a.ID - b.ID })
	return all
}

// Unlucky reports whether the first free licence of a seed's game times out, and its first
// cash fails by chance.
func Unlucky(seed int64) bool {
	l := licenser{rand: rand.New(rand.NewSource(seed)), timeouts: failTimeouts}
	status, _ := l.call(failFree)
	return status == 504 && rand.New(rand.NewSource(seed)).Intn(100) < cashFail
}
