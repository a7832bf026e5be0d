package sqlcache

import (
	"database/sql/driver"
	"sync"
	"sync/atomic"
)

// An entry is a kept answer. Only used changes after it was stored.
type entry struct {
	key     entryKey
	stmt    *statement
	args    []driver.Value
	deps    []dep
	columns *columnInfo
	values  []driver.Value // the rows, one after the other
	bytes   int64
	place   int // in its shard's ring
	used    uint32
	batch   *batch  // that read it ahead; nil: it was asked for
	link    *link   // by which its key was known
	answer  *answer // of a statement whose rows may hold keys
}

// An entryKey selects candidates; the statement and the arguments decide.
type entryKey struct {
	sum uint64
	// source is the connector: two data source names may differ in the zone or
	// the types of their values. binary: the values came through a prepared
	// statement, which has other types than a text.
	source uint32
	binary bool
}

const (
	shards = 32
	// mostEntryBytes is the largest answer that is kept.
	mostEntryBytes = 1 << 20
)

// A store holds entries within a bound of memory. It evicts by CLOCK: an entry
// that was used since the hand passed it stays for one more turn.
type store struct {
	shards [shards]shard
}

type shard struct {
	mu      sync.RWMutex
	entries map[entryKey]*entry
	ring    []*entry
	hand    int
	bytes   int64
	most    int64
	_       [64]byte // shards do not share a cache line
}

func newStore(bytes int64) *store {
	s := &store{}
	for i := range s.shards {
		s.shards[i].most = bytes / shards
		s.shards[i].entries = map[entryKey]*entry{}
	}
	return s
}

func (s *store) shard(k entryKey) *shard { return &s.shards[k.sum%shards] }

// find returns the valid entry of a statement, or nil.
func (s *store) find(k entryKey, st *statement, args []driver.NamedValue) *entry {
	sh := s.shard(k)
	sh.mu.RLock()
	e := sh.entries[k]
	sh.mu.RUnlock()
	if e == nil || !e.matches(st, args) {
		return nil
	}
	e.use()
	return e
}

// matches reports whether an entry is the valid answer to a statement.
func (e *entry) matches(st *statement, args []driver.NamedValue) bool {
	return e.stmt == st && sameArguments(e.args, args) && holds(e.deps)
}

// use notes that an entry was given.
func (e *entry) use() {
	if atomic.LoadUint32(&e.used) != 0 || !atomic.CompareAndSwapUint32(&e.used, 0, 1) {
		return
	}
	if e.batch != nil {
		add(&e.batch.counts.used)
		add(&e.link.used)
	}
}

// put stores an entry in place of an earlier one with its key. It reports
// whether the entry fits.
func (s *store) put(e *entry) bool {
	sh := s.shard(e.key)
	if e.bytes > mostEntryBytes || e.bytes > sh.most/2 {
		return false
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if old := sh.entries[e.key]; old != nil {
		sh.remove(old)
	}
	for sh.bytes+e.bytes > sh.most && len(sh.ring) > 0 {
		sh.evict()
	}
	e.place = len(sh.ring)
	sh.ring = append(sh.ring, e)
	sh.entries[e.key] = e
	sh.bytes += e.bytes
	return true
}

// evict removes one entry: the next one that was not used since the hand
// passed it, or that is no longer valid.
func (sh *shard) evict() {
	for {
		if sh.hand >= len(sh.ring) {
			sh.hand = 0
		}
		e := sh.ring[sh.hand]
		if atomic.LoadUint32(&e.used) != 0 && holds(e.deps) {
			atomic.StoreUint32(&e.used, 0)
			sh.hand++
			continue
		}
		add(&e.stmt.counts.evicted)
		sh.remove(e)
		return
	}
}

// remove takes an entry out; the last of the ring moves into its place.
func (sh *shard) remove(e *entry) {
	last := len(sh.ring) - 1
	moved := sh.ring[last]
	sh.ring[e.place] = moved
	moved.place = e.place
	sh.ring[last] = nil
	sh.ring = sh.ring[:last]
	delete(sh.entries, e.key)
	sh.bytes -= e.bytes
}

// clear removes all entries.
func (s *store) clear() {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sh.entries, sh.ring, sh.hand, sh.bytes = map[entryKey]*entry{}, nil, 0, 0
		sh.mu.Unlock()
	}
}

// size is the number of entries and their bytes.
func (s *store) size() (entries int, bytes int64) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.RLock()
		entries += len(sh.entries)
		bytes += sh.bytes
		sh.mu.RUnlock()
	}
	return entries, bytes
}
