package sqlcache

import (
	"bufio"
	"encoding/json"
	"expvar"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
)

// counters of one statement. They are read and added to by package atomic: where words
// have 32 bits, they must begin an allocated struct.
type counters struct {
	hits, missed, doubted, dropped, evicted int64
	timed, took                             int64 // of a child: executions, their nanoseconds
}

func add(n *int64) { atomic.AddInt64(n, 1) }

func count(n *int64) int64 { return atomic.LoadInt64(n) }

// A StatementStats is how often a statement's answer came from the cache.
type StatementStats struct {
	Text    string `json:"text"`
	Kept    bool   `json:"kept"` // the plan allows its answers to be kept
	Hits    int64  `json:"hits"`
	Misses  int64  `json:"misses"`
	Doubts  int64  `json:"doubts"`  // went to the database because of a write in doubt
	Drops   int64  `json:"drops"`   // not stored because a write came in between
	Evicted int64  `json:"evicted"` // removed for lack of memory
}

// A Stats is the state of a cache.
type Stats struct {
	Entries    int              `json:"entries"`
	Bytes      int64            `json:"bytes"`
	Statements []StatementStats `json:"statements"`
	Batches    []BatchStats     `json:"batches,omitempty"`
}

// A BatchStats is what a batch did.
type BatchStats struct {
	Child  string `json:"child"`
	Column string `json:"column"`
	Sent   int64  `json:"sent"` // batches
	Keys   int64  `json:"keys"` // of all batches
	Used   int64  `json:"used"` // answers that were read ahead and then asked for
	// Refused are batches whose answers could not be told apart.
	Refused int64       `json:"refused,omitempty"`
	Stopped bool        `json:"stopped,omitempty"` // it is not sent any more
	Parents []LinkStats `json:"parents,omitempty"`
}

// A LinkStats is a statement whose answers have keys of a batch.
type LinkStats struct {
	Text    string `json:"text"`
	Column  string `json:"column"`
	Learned bool   `json:"learned,omitempty"` // the plan does not list it
	Keys    int64  `json:"keys"`
	Used    int64  `json:"used"`
}

// batchStats reads the counters of the batches that were sent, or that have parents.
func (c *Cache) batchStats() (out []BatchStats) {
	for _, list := range c.plan.batches {
		for _, b := range list {
			s := BatchStats{Child: b.Child, Column: b.Column, Sent: count(&b.counts.sent), Keys: count(&b.counts.keys), Used: count(&b.counts.used),
				Refused: count(&b.counts.refused), Stopped: b.stoppedNow()}
			for _, l := range b.links.all() {
				s.Parents = append(s.Parents, LinkStats{l.parent, l.column, l.learned, count(&l.keys), count(&l.used)})
			}
			if len(s.Parents) > 0 || s.Stopped {
				out = append(out, s)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Used != b.Used {
			return a.Used > b.Used
		}
		return a.Child+a.Column < b.Child+b.Column
	})
	return out
}

// Stats reads the counters, the statements with the most hits first.
func (c *Cache) Stats() Stats {
	s := Stats{Statements: []StatementStats{}}
	s.Entries, s.Bytes = c.store.size()
	s.Batches = c.batchStats()
	for _, st := range c.texts.all() {
		n := &st.counts
		s.Statements = append(s.Statements, StatementStats{st.text, st.keep, count(&n.hits), count(&n.missed),
			count(&n.doubted), count(&n.dropped), count(&n.evicted)})
	}
	sort.Slice(s.Statements, func(i, j int) bool {
		a, b := s.Statements[i], s.Statements[j]
		if a.Hits != b.Hits {
			return a.Hits > b.Hits
		}
		return a.Text < b.Text
	})
	return s
}

// String is the state as JSON, so that a Cache is an expvar.Var.
func (c *Cache) String() string {
	b, err := json.Marshal(c.Stats())
	if err != nil {
		return "{}"
	}
	return string(b)
}

// Publish shows the cache under /debug/vars, which expvar serves on
// http.DefaultServeMux. A name that is taken stays as it is.
func (c *Cache) Publish(name string) {
	if expvar.Get(name) == nil {
		expvar.Publish(name, c)
	}
}

// Bounds of defaultBytes.
const (
	leastBytes = 16 << 20
	mostBytes  = 1 << 30
)

// defaultBytes is an eighth of the memory that is available now.
func defaultBytes() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return leastBytes
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fields := strings.Fields(sc.Text())
		if len(fields) < 2 || fields[0] != "MemAvailable:" {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			break
		}
		switch n := kib << 10 / 8; {
		case n < leastBytes:
			return leastBytes
		case n > mostBytes:
			return mostBytes
		default:
			return n
		}
	}
	return leastBytes
}
