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

// counters of one statement.
type counters struct{ hits, missed, doubted, dropped, evicted atomic.Int64 }

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
}

// Stats reads the counters, the statements with the most hits first.
func (c *Cache) Stats() Stats {
	s := Stats{Statements: []StatementStats{}}
	s.Entries, s.Bytes = c.store.size()
	known := c.texts.known.Load()
	if known == nil {
		return s
	}
	for _, st := range *known {
		n := &st.counts
		s.Statements = append(s.Statements, StatementStats{st.text, st.keep, n.hits.Load(), n.missed.Load(),
			n.doubted.Load(), n.dropped.Load(), n.evicted.Load()})
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
		return min(max(kib<<10/8, leastBytes), mostBytes)
	}
	return leastBytes
}
