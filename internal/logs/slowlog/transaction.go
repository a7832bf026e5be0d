package slowlog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

const (
	// maxSteps is the number of statements in a shape.
	maxSteps = 48
	// maxCycle is the longest loop, in statements, that counts once in a shape.
	maxCycle = 4
	// maxShapes limits the table. Further shapes share one row.
	maxShapes = 5_000
)

// A transaction is the open transaction of a thread. Outside of a transaction it holds
// the writes since the last end: a COMMIT without a BEGIN in the log is attributed
// to them, because autocommit may have been off before the log began, or the log
// lacks the BEGIN.
type transaction struct {
	open   bool
	manual bool // autocommit is off
	auto   bool // it began by autocommit=0, not by BEGIN
	ended  bool // the thread's last statement was COMMIT or ROLLBACK
	steps  []*digest
	costs
	lead costs // of the first step, with its repetitions
}

// costs are sums over statements. Times are in ns.
type costs struct{ statements, total, lock int64 }

func (c *costs) add(o costs) {
	c.statements += o.statements
	c.total += o.total
	c.lock += o.lock
}

func (c *costs) subtract(o costs) {
	c.statements -= o.statements
	c.total -= o.total
	c.lock -= o.lock
}

// event adds one statement of the thread.
func (t *transaction) event(ev *event, d *digest, c *collector) {
	ended := t.ended
	t.ended = false
	switch ev.kind {
	case kindBegin:
		c.shapes.begins++
		t.abandon(&c.shapes) // BEGIN commits an open transaction without a logged cost
		t.open, t.auto = true, false
		t.step(ev, d)
		return
	case kindAutocommitOff:
		if !t.open {
			t.clear() // the writes so far have committed themselves
		}
		t.manual = true
		return
	case kindAutocommitOn: // the SET commits the transaction
		if t.open {
			t.finish(ev, d, c, false)
		}
		t.clear()
		t.manual = false
		return
	case kindCommit, kindChain, kindRollback:
		c.shapes.ends++
		if !t.open {
			c.shapes.implied++
			t.imply(ev, &c.shapes, ended)
		}
		t.finish(ev, d, c, ev.kind == kindRollback)
		t.ended = true
		t.open = ev.kind == kindChain
		return
	case kindDDL:
		if t.open {
			t.finish(ev, d, c, false)
		}
		t.clear()
		return
	}
	if !t.open && t.manual {
		t.open, t.auto = true, true
	}
	if t.open || ev.kind == kindWrite {
		t.step(ev, d)
	}
}

// imply counts a COMMIT without a BEGIN that directly follows another end, or writes.
func (t *transaction) imply(ev *event, s *shapes, ended bool) {
	switch {
	case ev.kind == kindRollback:
	case ended:
		s.bare.add(costs{statements: 1, total: ev.query})
	case len(t.steps) > 0:
		s.afterWrites.add(costs{statements: 1, total: ev.query})
	}
}

// step adds a statement. A loop of up to maxCycle statements counts once.
func (t *transaction) step(ev *event, d *digest) {
	one := costs{1, ev.query, ev.lock}
	t.costs.add(one)
	if n := len(t.steps); n == 0 || n == 1 && t.steps[0] == d {
		t.lead.add(one)
	}
	if len(t.steps) >= maxSteps {
		return
	}
	t.steps = append(t.steps, d)
	n := len(t.steps)
	for c := 1; c <= maxCycle && 2*c <= n; c++ {
		if slices.Equal(t.steps[n-c:], t.steps[n-2*c:n-c]) {
			t.steps = t.steps[:n-c]
			return
		}
	}
}

// finish adds the transaction to its shape.
func (t *transaction) finish(ev *event, d *digest, c *collector, rollback bool) {
	t.costs.add(costs{1, ev.query, ev.lock})
	s := c.shapes.of(t, d)
	s.count++
	if rollback {
		s.rollbacks++
	}
	s.costs.add(t.costs)
	s.lead.add(t.lead)
	s.commit += ev.query
	s.maxCommit = max(s.maxCommit, ev.query)
	if !s.example.set || t.total > s.example.took {
		s.example.keep(ev.sql.of(c.batch.data), c.file, c.lineOf(ev), t.total, &c.texts)
	}
	t.clear()
}

func (t *transaction) clear() {
	t.open, t.auto, t.steps = false, false, t.steps[:0]
	t.costs, t.lead = costs{}, costs{}
}

// abandon drops a transaction without an end in the log.
func (t *transaction) abandon(s *shapes) {
	if t.open && t.statements > 0 {
		s.unfinished++
	}
	t.clear()
}

// shapes holds the ended transactions by shape.
type shapes struct {
	byKey      map[uint64]*shape
	overflow   *shape
	unfinished int64
	begins     int64 // BEGIN statements
	ends       int64 // COMMIT and ROLLBACK statements
	implied    int64 // ends without an open transaction
	separated  int64 // of these, with a write before them that committed itself

	bare        costs // COMMITs without a BEGIN that directly follow another end
	afterWrites costs // … that follow writes
}

type shape struct {
	key       uint64
	digests   []*digest
	auto      bool
	implied   bool // BEGIN is not in the log
	count     int64
	rollbacks int64

	costs
	lead              costs // of the first steps
	commit, maxCommit int64
	example           example
}

func (s *shapes) init() { s.byKey = map[uint64]*shape{} }

// of returns the shape of a transaction that the statement end ends. COMMIT and
// ROLLBACK give different shapes, as do commits with different tags.
func (s *shapes) of(t *transaction, end *digest) *shape {
	key := tally.Mix(keyOf(t.steps), end.key)
	if sh := s.byKey[key]; sh != nil {
		return sh
	}
	if len(s.byKey) >= maxShapes {
		if s.overflow == nil {
			s.overflow = &shape{}
		}
		return s.overflow
	}
	sh := &shape{key: key, digests: append(slices.Clone(t.steps), end), auto: t.auto, implied: !t.open}
	s.byKey[key] = sh
	return sh
}

// keyOf returns the key of a sequence of digests.
func keyOf(steps []*digest) uint64 {
	key := uint64(1)
	for _, d := range steps {
		key = tally.Mix(key, d.key)
	}
	return key
}

// list returns the transactions by shape, the most expensive first.
func (s *shapes) list(files []string) []iikanji.Transaction {
	s.separate()
	var out []iikanji.Transaction
	for _, sh := range s.byKey {
		out = append(out, sh.word(files))
	}
	if s.overflow != nil {
		t := s.overflow.word(files)
		t.Shape, t.Digest = "(other transactions: more shapes than are kept)", ""
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b iikanji.Transaction) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count), strings.Compare(a.Digest, b.Digest))
	})
	return out
}

func (sh *shape) word(files []string) iikanji.Transaction {
	t := iikanji.Transaction{Digest: fmt.Sprintf("%016x", sh.key), Count: sh.count, Rollbacks: sh.rollbacks, Statements: sh.statements,
		Total: time.Duration(sh.total), Commit: time.Duration(sh.commit), MaxCommit: time.Duration(sh.maxCommit), Lock: time.Duration(sh.lock),
		Autocommit: sh.auto, Example: sh.example.sighting(files)}
	labels := make([]string, 0, len(sh.digests))
	for _, d := range sh.digests {
		labels = append(labels, d.label)
		t.Digests = append(t.Digests, fmt.Sprintf("%016x", d.key))
	}
	t.Shape = strings.Join(labels, "; ")
	return t
}
