package sqlcache

import (
	"database/sql/driver"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A class is what a statement does to the state of its connection and of the
// database, as far as the first words show it.
type class uint8

const (
	reads     class = iota // changes nothing
	writes                 // changes rows; the plan lists which
	changes                // changes something that the plan does not list
	begins                 // opens a transaction
	ends                   // ends a transaction
	savepoint              // stays in the transaction
	session                // changes how later statements of the connection read
	unsure                 // may leave anything behind: a transaction, a temporary table
	reaches                // lets later writes reach what the plan does not list: ATTACH
)

// A statement is a text with what the plan has about it.
type statement struct {
	counts  counters
	text    string
	hash    uint64
	class   class
	keep    bool
	planned *Statement
	groups  [][]int
	folded  string
	batches []*batch
	infos   [2]atomic.Value // *columnInfo of its own answers: of texts, of prepared statements
	noted   bool            // its answers may hold the keys of children
	args    int             // how many placeholders the text has
}

// describes notes the description of an answer: the table may have been made anew since the
// last one.
func (s *statement) describes(info *columnInfo, binary bool) {
	if len(s.batches) > 0 {
		s.infos[protocol(binary)].Store(info)
	}
}

// timed notes the time that the statement took since it was sent.
func (s *statement) timed(since time.Time) {
	add(&s.counts.timed)
	atomic.AddInt64(&s.counts.took, int64(time.Since(since)))
}

// described is the description of the statement's own answers; nil before the first.
func (s *statement) described(binary bool) *columnInfo {
	info, _ := s.infos[protocol(binary)].Load().(*columnInfo)
	return info
}

func protocol(binary bool) int {
	if binary {
		return 1
	}
	return 0
}

// classOf reads the first words. A class that is wrong in the direction of
// "changes more" costs speed only.
func classOf(f folded, selectsOnlyRead bool) class {
	if f.odd {
		if reachesOut(f.text) {
			return reaches
		}
		return unsure
	}
	word := func(i int) string {
		if i < len(f.words) {
			return f.words[i]
		}
		return ""
	}
	switch word(0) {
	case "SELECT", "WITH", "VALUES", "TABLE":
		if selectsOnlyRead && word(0) == "SELECT" {
			return reads
		}
		return changes
	case "SHOW", "DESCRIBE", "DESC":
		return reads
	case "EXPLAIN":
		return changes // EXPLAIN ANALYZE executes
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "TRUNCATE", "LOAD", "ANALYZE", "OPTIMIZE", "RENAME":
		return changes
	case "CREATE", "DROP", "ALTER":
		if oneOf("TEMPORARY", f.words) || oneOf("TEMP", f.words) {
			if oneOf("TRIGGER", f.words) {
				return reaches // later writes of the connection write further tables
			}
			return unsure
		}
		return changes
	case "BEGIN", "START":
		return begins
	case "COMMIT", "END":
		if oneOf("CHAIN", f.words) && !oneOf("NO", f.words) {
			return unsure // a further transaction is open
		}
		return ends
	case "ROLLBACK":
		if oneOf("CHAIN", f.words) && !oneOf("NO", f.words) {
			return unsure
		}
		if word(1) == "TO" || word(2) == "TO" {
			return savepoint
		}
		return ends
	case "SAVEPOINT", "RELEASE":
		return savepoint
	case "SET":
		return classOfSet(f.text)
	case "ATTACH":
		return reaches
	case "VACUUM":
		if reachesOut(f.text) {
			return reaches
		}
		return changes
	case "PRAGMA":
		if oneOf(strings.ToLower(word(1)), harmlessPragmas) {
			return reads
		}
		return session
	}
	return unsure
}

// reachesOut reports whether a text has the words of a statement that opens a further
// file of SQLite: ATTACH, or VACUUM INTO.
func reachesOut(text string) bool {
	vacuum := false
	for _, word := range strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return r < 0x80 && !isWordByte(byte(r)) }) {
		vacuum = vacuum || word == "VACUUM"
		if word == "ATTACH" || vacuum && word == "INTO" {
			return true
		}
	}
	return false
}

func oneOf(word string, words []string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// harmlessPragmas change no answer of a statement. A plan for SQLite counts
// cascading foreign keys as if they were on.
var harmlessPragmas = []string{"journal_mode", "synchronous", "busy_timeout", "cache_size", "foreign_keys",
	"temp_store", "mmap_size", "wal_autocheckpoint", "wal_checkpoint", "journal_size_limit", "optimize"}

// classOfSet distinguishes session settings that change answers from those that change
// when writes are committed.
func classOfSet(text string) class {
	upper := strings.ToUpper(text)
	for _, word := range []string{"AUTOCOMMIT", "COMPLETION_TYPE", "TRANSACTION"} {
		if strings.Contains(upper, word) {
			return unsure
		}
	}
	return session
}

// statements remembers the texts that were seen. Reading it neither locks nor
// allocates; a new text copies the map.
type statements struct {
	hash  hasher
	known atomic.Value // map[string]*statement
	mu    sync.Mutex
}

// mostStatements bounds the texts that are remembered. Further texts are
// examined at each call, and their answers are not kept.
const mostStatements = 4096

func (t *statements) find(c *compiled, text string) *statement {
	if s := t.all()[text]; s != nil {
		return s
	}
	s := examine(c, t.hash, text)
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.all()
	if earlier := known[text]; earlier != nil {
		return earlier
	}
	if len(known) >= mostStatements {
		s.keep = false
		return s
	}
	next := make(map[string]*statement, len(known)+1)
	for k, v := range known {
		next[k] = v
	}
	next[s.text] = s
	t.known.Store(next)
	return s
}

// all are the texts that were seen. The map does not change.
func (t *statements) all() map[string]*statement {
	known, _ := t.known.Load().(map[string]*statement)
	return known
}

func examine(c *compiled, h hasher, text string) *statement {
	text = string([]byte(text)) // the caller's memory may be large
	f := fold(c.plan.Dialect, text)
	s := &statement{text: text, hash: h.text(text), class: classOf(f, c.plan.SelectsOnlyRead), groups: f.groups}
	s.args, s.folded = f.args, f.text
	s.noted = len(c.batches) > 0 && len(f.words) > 0 && f.words[0] == "SELECT" && !f.odd
	p := c.byText[f.text]
	if p == nil {
		p = writeOfOne(c, f)
	}
	if p == nil || f.odd || f.unbound {
		return s
	}
	s.planned = p
	s.keep = p.Keep
	s.batches = c.batches[strings.TrimSpace(text)]
	if len(p.Writes) > 0 {
		s.class = writes
	} else if s.class == changes {
		s.class = reads
	}
	return s
}

// values calls each with every value of a key: arguments, then literals. It
// returns false if an argument is missing.
func (s *statement) values(k Key, args []driver.NamedValue, each func(driver.Value)) bool {
	for _, g := range k.Groups {
		if g < 0 || g >= len(s.groups) {
			return false
		}
		for _, a := range s.groups[g] {
			if a >= len(args) {
				return false
			}
			each(args[a].Value)
		}
	}
	for _, l := range k.Literals {
		each(l)
	}
	return true
}

// mostKeyValues bounds the slots of one read: a longer list depends on its whole
// table.
const mostKeyValues = 64

// readDeps are the slots that the answer depends on. ok is false if the
// arguments do not fit the plan.
func (s *statement) readDeps(c *compiled, sp *space, args []driver.NamedValue, deps []dep) (_ []dep, ok bool) {
	if len(args) != s.args {
		return nil, false
	}
	need := func(sl *slot) { deps = append(deps, dep{sl, sl.load()}) }
	need(&sp.everything)
	for _, r := range s.planned.Reads {
		t := &sp.tables[c.tables[strings.ToLower(r.Table)]]
		places, column, confined := s.readStripes(c, r, args)
		if !confined {
			need(t.any())
			continue
		}
		need(t.all())
		need(t.columns[column].all())
		for _, p := range places {
			need(t.columns[column].value(p))
		}
	}
	return deps, true
}

// readStripes are the stripes of the first key of a read; one key is enough to
// hold every row of the answer.
func (s *statement) readStripes(c *compiled, r Touch, args []driver.NamedValue) (places []int, column int, confined bool) {
	if len(r.Keys) == 0 {
		return nil, 0, false
	}
	column, col, _ := c.column(r.Table, r.Keys[0].Column)
	confined = true
	fits := s.values(r.Keys[0], args, func(v driver.Value) {
		p, ok := stripe(col.Kind, v)
		confined = confined && ok && len(places) < mostKeyValues
		if confined {
			places = append(places, p)
		}
	})
	return places, column, confined && fits
}

// writeSlots are the slots that a write puts in doubt. The list may hold a slot
// more than once.
func (s *statement) writeSlots(c *compiled, sp *space, args []driver.NamedValue) []*slot {
	if s.planned == nil || len(args) != s.args {
		return []*slot{&sp.everything}
	}
	var slots []*slot
	for _, w := range s.planned.Writes {
		i, ok := c.tables[strings.ToLower(w.Table)]
		if !ok {
			continue // no kept statement reads this table
		}
		t := &sp.tables[i]
		slots = append(slots, t.any())
		if len(w.Keys) == 0 {
			slots = append(slots, t.all())
			continue
		}
		for ci, col := range c.plan.Tables[i].Columns {
			slots = append(slots, s.columnSlots(w, col, &t.columns[ci], args)...)
		}
	}
	return slots
}

// columnSlots are the slots of one key column that a write touches.
func (s *statement) columnSlots(w Touch, col Column, cs *columnSlots, args []driver.NamedValue) []*slot {
	var slots []*slot
	for _, k := range w.Keys {
		if !strings.EqualFold(k.Column, col.Name) {
			continue
		}
		known := true
		fits := s.values(k, args, func(v driver.Value) {
			p, ok := writtenStripe(col.Kind, v)
			known = known && ok
			slots = append(slots, cs.value(p))
		})
		if known && fits {
			return slots
		}
	}
	return []*slot{cs.all()}
}
