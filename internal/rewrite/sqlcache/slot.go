package sqlcache

import (
	"os"
	"sync"
	"sync/atomic"
)

// A slot counts the writes of one set of rows. The low doubtBits bits are the
// number of writes in doubt; the bits above are the version. Both are in one
// word, so that one load sees a moment of both.
type slot struct{ state uint64 }

const (
	doubtBits = 20
	doubtMask = 1<<doubtBits - 1
)

// doubt begins a write that may touch the set.
func (s *slot) doubt() { atomic.AddUint64(&s.state, 1) }

// settle ends a write: the version moves and the doubt ends in one step.
// Between two steps a reader could take an old entry for valid.
func (s *slot) settle() { atomic.AddUint64(&s.state, 1<<doubtBits-1) }

func (s *slot) load() uint64 { return atomic.LoadUint64(&s.state) }

func inDoubt(state uint64) bool { return state&doubtMask != 0 }

// stripes is how many slots the values of a key column share. Two values in one
// stripe invalidate each other, which costs a miss and never a stale answer.
const stripes = 1024

// A tableSlots is the slots of one table. A read of the whole table depends on
// any. A read by key depends on all, on its column's all, and on the stripes of
// its values. A write moves any, and for each key column either the stripes of
// its values or the column's all.
type tableSlots struct {
	slots   []slot // any, all
	columns []columnSlots
}

// A columnSlots is all, then the stripes. A slice of its own begins at a multiple of 64
// bits, which package atomic needs where words have 32 bits.
type columnSlots struct{ slots []slot }

func (t *tableSlots) any() *slot { return &t.slots[0] }
func (t *tableSlots) all() *slot { return &t.slots[1] }

func (c *columnSlots) all() *slot             { return &c.slots[0] }
func (c *columnSlots) value(stripe int) *slot { return &c.slots[1+stripe] }

// A space is the slots of one database.
type space struct {
	everything slot
	// number counts the files that the path has led to, see file.go. It is 0 for a
	// server.
	number int64
	tables []tableSlots

	path string // of the file; "" for a server
	mu   sync.Mutex
	file os.FileInfo // that the path led to; nil: none
}

func newSpace(tables []Table) *space {
	s := &space{tables: make([]tableSlots, len(tables))}
	for i, t := range tables {
		s.tables[i] = tableSlots{slots: make([]slot, 2), columns: make([]columnSlots, len(t.Columns))}
		for j := range t.Columns {
			s.tables[i].columns[j].slots = make([]slot, 1+stripes)
		}
	}
	return s
}

// outside puts the answers of a new space in doubt for n programs that run now.
func (s *space) outside(n int) {
	for ; n > 0; n-- {
		s.everything.doubt()
	}
}

// shut leaves every answer of the database in doubt for good.
func (s *space) shut() { s.everything.doubt() }

// A dep is a slot with the state that an entry needs it to have.
type dep struct {
	slot  *slot
	state uint64
}

// holds reports whether every dependency still has its state. The states hold
// no doubt. The slots are loaded one after the other, and yet all of them had
// their states when the first was loaded: a later change of any of them would
// have moved its version, and a doubt pending then would be pending still or
// have moved it too.
func holds(deps []dep) bool {
	for i := range deps {
		if deps[i].slot.load() != deps[i].state {
			return false
		}
	}
	return true
}
