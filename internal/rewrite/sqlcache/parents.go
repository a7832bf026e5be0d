package sqlcache

import (
	"database/sql/driver"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Which keys a batch reads: the app goes over the rows of an answer, the parent's, and sends
// a child for each. So the cache remembers the columns of the last answers. Where a child's
// key is in a column of one, the rows behind it have the keys that will follow. Which
// statement and column this is, is known from the plan, or learned: from three rows of one
// answer whose keys were asked for one by one. A wrong guess costs a larger statement, and
// is given up when its answers are not used.

// Bounds of what is remembered.
const (
	mostAnswers  = 64   // answers
	mostRows     = 1024 // rows of an answer
	mostColumns  = 32   // columns of an answer
	mostKeyText  = 64   // bytes of a text that may be a key
	mostLinks    = 64   // of a batch
	learnedAfter = 3    // rows of one answer
)

// A plainKey is a key in the form in which columns compare it.
type plainKey struct {
	number int64
	text   string
}

// plainOf is the plain form of a value. Texts are told apart as textStripe does.
func plainOf(kind Kind, v driver.Value) (plainKey, bool) {
	if kind == Integer {
		n, ok := integer(v)
		return plainKey{number: n}, ok
	}
	var s string
	switch v := v.(type) {
	case string:
		s = v
	case []byte:
		s = string(v)
	default:
		return plainKey{}, false
	}
	s = strings.TrimRight(s, " ")
	lower := false
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return plainKey{}, false
		}
		lower = lower || s[i] >= 'A' && s[i] <= 'Z'
	}
	if lower {
		s = strings.ToLower(s)
	}
	return plainKey{text: s}, true
}

// like gives a value of a parent's answer the type of an argument of a child.
func like(v, arg driver.Value) (driver.Value, bool) {
	switch arg.(type) {
	case int64:
		n, ok := integer(v)
		return n, ok
	case uint64:
		n, ok := integer(v)
		return uint64(n), ok && n >= 0
	case string:
		return textOf(v)
	case []byte:
		s, ok := textOf(v)
		return []byte(s), ok
	}
	return nil, false
}

func textOf(v driver.Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	}
	return "", false
}

// An answer is the columns of a parent's answer that may hold keys.
type answer struct {
	stmt    *statement
	columns []answerColumn
	mu      sync.Mutex
	seen    map[seenAt]rowsSeen // rows whose keys were asked for one by one
	done    map[*batch]int      // the last row up to which a batch was sent
}

type seenAt struct {
	batch  *batch
	column int
}

// rowsSeen counts rows in their order.
type rowsSeen struct{ rows, last int }

type answerColumn struct {
	name   string
	values []driver.Value
	places [2]map[plainKey]int // first row of each key, by the kind; nil: not made yet
}

// place is the first row of a key.
func (c *answerColumn) place(kind Kind, p plainKey) (row int, ok bool) {
	if c.places[kind] == nil {
		c.places[kind] = make(map[plainKey]int, len(c.values))
		for i, v := range c.values {
			if k, ok := plainOf(kind, v); ok {
				if _, twice := c.places[kind][k]; !twice {
					c.places[kind][k] = i
				}
			}
		}
	}
	row, ok = c.places[kind][p]
	return row, ok
}

// answerOf takes the columns that may hold keys out of an answer. It is nil for an answer of
// one row, whose keys have nothing behind them.
func answerOf(st *statement, info *columnInfo, values []driver.Value) *answer {
	width := len(info.names)
	if width == 0 || len(values) < 2*width {
		return nil
	}
	a := &answer{stmt: st}
	for c := 0; c < width && len(a.columns) < mostColumns; c++ {
		if !mayBeKey(values[c]) && !mayBeKey(values[c+width]) {
			continue
		}
		col := answerColumn{name: info.names[c]}
		for i := c; i < len(values) && len(col.values) < mostRows; i += width {
			col.values = append(col.values, values[i])
		}
		a.columns = append(a.columns, col)
	}
	if len(a.columns) == 0 {
		return nil
	}
	return a
}

func mayBeKey(v driver.Value) bool {
	switch v := v.(type) {
	case int64, uint64:
		return true
	case string:
		return len(v) <= mostKeyText
	case []byte:
		return len(v) <= mostKeyText
	}
	return false
}

// parents are the last answers that may be those of parents.
type parents struct {
	mu   sync.Mutex
	ring [mostAnswers]*answer
	next int
	// eager: links are followed also if they are useless.
	eager bool
}

// note remembers an answer.
func (p *parents) note(a *answer) {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.seen, a.done = nil, nil // a further loop begins
	a.mu.Unlock()
	p.mu.Lock()
	if p.ring[(p.next+mostAnswers-1)%mostAnswers] != a {
		p.ring[p.next] = a
		p.next = (p.next + 1) % mostAnswers
	}
	p.mu.Unlock()
}

// A link is a statement and a column of its answers that hold the keys of a batch.
type link struct {
	keys, used int64 // by package atomic
	column     string
	parent     string // as Fold prints it
	learned    bool
}

// useless reports whether the answers that were read ahead by a link are hardly ever used.
func (l *link) useless() bool {
	keys := count(&l.keys)
	return keys > 1024 && count(&l.used)*4 < keys
}

type linkTable struct {
	mu   sync.Mutex
	list []*link
}

// of is the link of a statement's column; nil without one.
func (t *linkTable) of(st *statement, column string) *link {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.list {
		if l.parent == st.folded && (l.column == column || l.column == "") {
			return l
		}
	}
	return nil
}

func (t *linkTable) learn(st *statement, column string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.list {
		if l.parent == st.folded && l.column == column {
			return
		}
	}
	if len(t.list) < mostLinks {
		t.list = append(t.list, &link{parent: st.folded, column: column, learned: true})
	}
}

func (t *linkTable) all() []*link {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]*link{}, t.list...)
}

// A keyPlace is the row of a parent's answer that holds a child's key.
type keyPlace struct {
	answer *answer
	column *answerColumn
	row    int
	link   *link
	most   int // keys of the batch
	last   int // the row of the last key that the batch has
}

// following are the keys of the rows behind the place.
func (k *keyPlace) following() []driver.Value { return k.column.values[k.row+1:] }

// sent notes that a batch was sent for the answer: a further one is larger, and has the keys
// of later rows.
func (k *keyPlace) sent(b *batch, keys int) {
	atomic.AddInt64(&k.link.keys, int64(keys-1))
	k.answer.mu.Lock()
	defer k.answer.mu.Unlock()
	if k.answer.done == nil {
		k.answer.done = map[*batch]int{}
	}
	k.answer.done[b] = k.last
}

// keysFor finds the newest answer with a child's key, in a column that is linked to the
// batch; nil without one. A column that is not linked yet is learned.
func (p *parents) keysFor(b *batch, key driver.Value) *keyPlace {
	plain, ok := plainOf(b.Kind, key)
	if !ok {
		return nil
	}
	var answers [mostAnswers]*answer
	p.mu.Lock()
	for i := range answers {
		answers[i] = p.ring[(p.next+mostAnswers-1-i)%mostAnswers]
	}
	p.mu.Unlock()
	for _, a := range answers {
		if a == nil {
			return nil
		}
		if at := a.find(b, plain, p.eager); at != nil {
			return at
		}
	}
	return nil
}

func (a *answer) find(b *batch, plain plainKey, eager bool) *keyPlace {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.columns {
		c := &a.columns[i]
		row, ok := c.place(b.Kind, plain)
		if !ok {
			continue
		}
		l := b.links.of(a.stmt, c.name)
		if l == nil {
			a.learn(b, i, row)
			continue
		}
		last, again := a.done[b]
		if l.useless() && !eager || row+1 >= len(c.values) || again && row <= last {
			continue
		}
		most := firstKeys
		if again {
			most = mostKeys
		}
		if n := b.size(); n < most {
			most = n
		}
		return &keyPlace{answer: a, column: c, row: row, link: l, most: most}
	}
	return nil
}

// learn counts the rows of an answer whose keys were asked for one by one.
func (a *answer) learn(b *batch, column, row int) {
	if a.seen == nil {
		a.seen = map[seenAt]rowsSeen{}
	}
	at := seenAt{b, column}
	s, again := a.seen[at]
	if again && row <= s.last {
		return
	}
	s.rows, s.last = s.rows+1, row
	if a.seen[at] = s; s.rows >= learnedAfter {
		b.links.learn(a.stmt, a.columns[column].name)
	}
}
