package sqlcache

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// An app may send a statement once for each row of an earlier answer. Where the plan has a
// Batch for such a statement, the child, the cache reads the rows of further keys with the
// first child that it has to send: by one statement, the batch, whose answer is divided
// into the answers of the children. These are kept like answers that were asked for one by
// one, with the states of their slots from before the batch was sent. So a batch changes
// when the database is asked, and not what an answer may be: see parents.go for the keys.

// A Shape is how the answers of many keys are read by one statement.
type Shape uint8

const (
	// Rows: the batch has the key as its last column. Rows of one key keep their order.
	Rows Shape = iota
	// Parts: the batch is a UNION ALL of the child for each key. Its last column is the
	// place of the key in the batch. The child has a LIMIT: each part is as fast as the
	// child where an index gives its first rows.
	Parts
	// FirstRows: the batch numbers the rows of each key, and has the key and the number as
	// its last columns. The child has a LIMIT.
	FirstRows
	// Totals: the child is one row of aggregates. The batch has a row for each key with
	// rows, and the key as its last column. What the others have, Empty tells.
	Totals
)

// extra is the number of columns behind those of the child.
func (s Shape) extra() int {
	if s == FirstRows {
		return 2
	}
	return 1
}

// A Batch is a statement that reads for many keys what a child reads for one.
type Batch struct {
	Child  string // the text, as the app sends it
	Key    int    // the argument of the child that is the key
	Column string // the child compares it with the key, and with nothing else
	Kind   Kind
	Shape  Shape
	// Head, as many placeholders as there are keys, and Tail are the batch. Its further
	// arguments are those of the child, in their order around the key. Of Parts, Head and
	// Tail are the text of one part around the place of its key, which has all arguments.
	Head, Tail string
	// Empty is a child of Totals for no rows at all. It has the further arguments.
	Empty string
	// Ties: rows of one key that the child's ORDER BY does not tell apart may come in
	// another order than from the child.
	Ties bool
	// Parents are statements of which the source shows that a loop over their rows sends
	// the child.
	Parents []Parent
}

// A Parent is a statement whose answers hold keys.
type Parent struct {
	Text   string // as Fold prints it
	Column string // of its answers
	Place  string // of the loop in the source, for people
}

// Bounds of a batch.
const (
	startKeys      = 8        // of the first batch at all: it may be slow
	firstKeys      = 64       // of the first batch for an answer: a loop may stop early
	mostKeys       = 256      // of a later one
	mostBatchBytes = 16 << 20 // of its answer
)

// A batch is a Batch with what was seen of it.
type batch struct {
	counts batchCounters
	Batch
	links   linkTable
	stopped uint32          // it is not sent any more: see stop
	empties [2]atomic.Value // []driver.Value, the answers to Empty, as statement.infos
}

// batchCounters are read and added to by package atomic.
type batchCounters struct {
	sent, keys, used, refused int64
	size                      int64 // keys of the next batch; 0: startKeys
	spent, worth              int64 // nanoseconds: of the batches, and of as many children
}

// stop gives a batch up: the database refused it, or its answers cannot be told apart.
func (b *batch) stop() { atomic.StoreUint32(&b.stopped, 1) }

// A statement costs leastWorth at least, also where its time could not be measured well.
const leastWorth = 10 * time.Microsecond

// paid notes the time of a batch. The next one is larger if it took less than its children
// would have.
func (b *batch) paid(st *statement, keys int, took time.Duration) {
	each := int64(leastWorth)
	if n := count(&st.counts.timed); n > 0 && count(&st.counts.took)/n > each {
		each = count(&st.counts.took) / n
	}
	worth := each * int64(keys)
	spent := int64(took)
	if spent > mostCounted*worth && took < hopeless {
		spent = mostCounted * worth
	}
	atomic.AddInt64(&b.counts.spent, spent)
	atomic.AddInt64(&b.counts.worth, worth)
	if int64(took) < worth && b.size() < mostKeys {
		atomic.StoreInt64(&b.counts.size, 4*int64(b.size()))
	}
}

// What a batch may cost before it is given up. On a busy machine one statement in some waits
// for milliseconds, so that no single batch decides unless it scans.
const (
	hopeless    = 250 * time.Millisecond // a batch that takes so long counts whole, and decides alone
	mostCounted = 4                      // another counts at most so many times its children
	leastSent   = 8                      // batches before their sum decides
)

// isSlow reports whether the batches have taken longer than their children would have.
func (c *Cache) isSlow(b *batch) bool {
	spent, all := count(&b.counts.spent), count(&b.counts.worth)
	alone := spent > mostCounted*all && spent > int64(hopeless)
	return !c.eager && (alone || spent > all+all/2 && count(&b.counts.sent) >= leastSent)
}

// size is the number of keys of the next batch.
func (b *batch) size() int {
	if n := count(&b.counts.size); n > 0 {
		return int(n)
	}
	return startKeys
}

func (b *batch) stoppedNow() bool { return atomic.LoadUint32(&b.stopped) != 0 }

// A childKey is one key of a batch with what its answer will depend on.
type childKey struct {
	args []driver.NamedValue
	key  entryKey
	deps []dep
	rows []driver.Value
	size int64
}

// readBatch answers a child by a batch, and keeps the answers of further keys. It returns
// nil without an error if the child is to be sent by itself.
func (k *conn) readBatch(ctx context.Context, st *statement, args []driver.NamedValue, binary bool) (driver.Rows, error) {
	if len(st.batches) == 0 || !k.mayKeep(st) || len(args) != st.args || k.open && k.locks {
		return nil, nil
	}
	for _, b := range st.batches {
		if b.stoppedNow() {
			continue
		}
		at := k.cache.parents.keysFor(b, args[b.Key].Value)
		if at == nil {
			continue
		}
		info := st.described(binary)
		if info == nil { // the child was not sent by itself yet
			return nil, nil
		}
		keys := k.childKeys(st, b, at, args, binary)
		if len(keys) < 2 {
			continue
		}
		return k.sendBatch(ctx, st, b, at, keys, info, binary)
	}
	return nil, nil
}

// childKeys are the keys to read: that of the child first, then those of the rows behind its
// row in the parent's answer whose answers are not known. A key in doubt is left out.
func (k *conn) childKeys(st *statement, b *batch, at *keyPlace, args []driver.NamedValue, binary bool) []*childKey {
	following := at.following()
	most := len(following) + 1
	if most > at.most {
		most = at.most
	}
	r := keyRoom{make([]childKey, 0, most), make([]dep, 0, most*usualDeps)}
	keys := make([]*childKey, 0, most)
	own := k.childKey(&r, st, args, binary)
	if own == nil {
		return nil
	}
	keys = append(keys, own)
	seen := make(map[plainKey]bool, most)
	first, _ := plainOf(b.Kind, args[b.Key].Value)
	seen[first] = true
	at.last = at.row
	room := make([]driver.NamedValue, most*len(args))
	for i, v := range following {
		if len(keys) == most {
			break
		}
		at.last = at.row + 1 + i
		p, ok := plainOf(b.Kind, v)
		if !ok || seen[p] {
			continue
		}
		seen[p] = true
		value, ok := like(v, args[b.Key].Value)
		if !ok {
			continue
		}
		more := room[:len(args):len(args)]
		copy(more, args)
		more[b.Key].Value = value
		c := k.childKey(&r, st, more, binary)
		if c == nil || k.kept(c.key, st, more) != nil {
			continue
		}
		keys, room = append(keys, c), room[len(args):]
	}
	return keys
}

// usualDeps is how many slots an answer by one key depends on.
const usualDeps = 4

// A keyRoom is memory for the keys of one batch.
type keyRoom struct {
	keys []childKey
	deps []dep
}

// childKey is nil for a key whose answer could not be kept now.
func (k *conn) childKey(r *keyRoom, st *statement, args []driver.NamedValue, binary bool) *childKey {
	sum, ok := k.cache.hash.arguments(st.hash, args)
	if !ok {
		return nil
	}
	used := len(r.deps)
	deps, ok := st.readDeps(k.cache.plan, k.connector.space, args, r.deps[used:used])
	if !ok {
		return nil
	}
	for _, d := range deps {
		if inDoubt(d.state) {
			return nil
		}
	}
	c := childKey{args: args, key: entryKey{sum, k.connector.source, binary}, deps: deps}
	if len(deps) <= cap(r.deps)-used { // they are in the room
		r.deps = r.deps[:used+len(deps)]
		c.deps = deps[:len(deps):len(deps)]
	}
	if len(r.keys) == cap(r.keys) { // of a key that is not read after all
		return &c
	}
	r.keys = append(r.keys, c)
	return &r.keys[len(r.keys)-1]
}

// sendBatch sends a batch and keeps the answers of its keys. The first key is that of the
// child that waits. info is how the database describes the child's own answers: columns of
// the batch may be described in another way, as one that may be NULL.
func (k *conn) sendBatch(ctx context.Context, st *statement, b *batch, at *keyPlace, keys []*childKey, info *columnInfo, binary bool) (driver.Rows, error) {
	if k.orphan() { // the states may be of the file that came in the place of this one
		return nil, nil
	}
	text, args := b.statement(keys)
	begin := time.Now()
	rows, err := k.askBase(ctx, text, args, binary)
	var divided bool
	if err == nil {
		divided, err = b.divide(rows, keys, info.names)
	}
	if errors.Is(err, driver.ErrSkip) { // only prepared statements take arguments
		return nil, nil
	}
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, driver.ErrBadConn) || !k.alive() {
			return nil, err
		}
		b.stop()
		return nil, nil
	}
	add(&b.counts.sent)
	at.sent(b, len(keys))
	b.paid(st, len(keys), time.Since(begin))
	if k.cache.isSlow(b) {
		b.stop()
	}
	if !divided {
		add(&b.counts.refused)
		if n := count(&b.counts.refused); !k.cache.eager && n > mostRefused && 2*n > count(&b.counts.sent) {
			b.stop()
		}
		return nil, nil
	}
	if b.Shape == Totals && !k.fillTotals(ctx, b, keys, binary) {
		return nil, nil
	}
	atomic.AddInt64(&b.counts.keys, int64(len(keys)))
	add(&st.counts.missed)
	for _, c := range keys {
		if holds(c.deps) {
			k.keepChild(st, b, at.link, info, c)
		}
	}
	return &keptRows{described{info}, keys[0].rows, 0}, nil
}

// mostRefused bounds the answers of a batch that could not be divided, if these are most.
const mostRefused = 8

// keepChild keeps the answer of one key: for all, or for the open transaction only.
func (k *conn) keepChild(st *statement, b *batch, l *link, info *columnInfo, c *childKey) {
	const perEntry = 256
	e := &entry{key: c.key, stmt: st, deps: c.deps, columns: info, values: c.rows, bytes: c.size + perEntry, batch: b, link: l}
	e.args = make([]driver.Value, 0, len(c.args))
	for _, arg := range c.args {
		v := own(arg.Value)
		e.args = append(e.args, v)
		e.bytes += size(v)
	}
	if k.open {
		k.keepPrivately(e)
		return
	}
	k.cache.store.put(e)
}

// statement is the text of a batch for some keys, and its arguments.
func (b *Batch) statement(keys []*childKey) (text string, args []driver.NamedValue) {
	if b.Shape == Parts {
		return b.parts(keys)
	}
	text = b.Head + "?" + strings.Repeat(", ?", len(keys)-1) + b.Tail
	child := keys[0].args
	values := make([]driver.Value, 0, len(child)+len(keys))
	for _, a := range child[:b.Key] {
		values = append(values, a.Value)
	}
	for _, c := range keys {
		values = append(values, c.args[b.Key].Value)
	}
	for _, a := range child[b.Key+1:] {
		values = append(values, a.Value)
	}
	return text, named(values)
}

// parts is the text of a batch of parts, and its arguments.
func (b *Batch) parts(keys []*childKey) (text string, args []driver.NamedValue) {
	var all strings.Builder
	var values []driver.Value
	for i, c := range keys {
		if i > 0 {
			all.WriteString(" UNION ALL ")
		}
		all.WriteString(b.Head)
		all.WriteString(strconv.Itoa(i))
		all.WriteString(b.Tail)
		values = append(values, plain(c.args)...)
	}
	return all.String(), named(values)
}

// keyOf is the key of a row, whose own columns are the first width ones; nil if it is none
// of the batch.
func (b *Batch) keyOf(row []driver.Value, width int, keys []*childKey, of map[plainKey]*childKey) *childKey {
	if b.Shape == Parts {
		if n, ok := integer(row[width]); ok && n >= 0 && n < int64(len(keys)) {
			return keys[n]
		}
		return nil
	}
	p, known := plainOf(b.Kind, row[width])
	if !known {
		return nil
	}
	return of[p]
}

// askBase sends a statement past the cache, by the protocol of the child: it decides on the
// types of the values.
func (k *conn) askBase(ctx context.Context, text string, args []driver.NamedValue, binary bool) (driver.Rows, error) {
	if q, ok := k.base.(driver.QueryerContext); ok && !binary {
		return q.QueryContext(ctx, text, args)
	}
	stmt, err := k.prepareBase(ctx, text)
	if err != nil {
		return nil, err
	}
	var rows driver.Rows
	if q, ok := stmt.(driver.StmtQueryContext); ok {
		rows, err = q.QueryContext(ctx, args)
	} else {
		//lint:ignore SA1019 the driver has nothing newer
		rows, err = stmt.Query(plain(args))
	}
	if err != nil {
		return nil, firstError(err, stmt.Close())
	}
	return &stmtRows{rows, stmt}, nil
}

// stmtRows closes its statement with its rows.
type stmtRows struct {
	driver.Rows
	stmt driver.Stmt
}

func (r *stmtRows) Close() error { return firstError(r.Rows.Close(), r.stmt.Close()) }

// divide reads the answer of a batch and gives each row to its key. ok is false if the key
// of a row is not one of them, as a text that the collation takes for equal to another one,
// if the answer is too large, or if its columns are not the child's, whose table may have
// been made anew: then no answer is used.
func (b *Batch) divide(rows driver.Rows, keys []*childKey, names []string) (ok bool, err error) {
	defer func() { err = firstError(err, rows.Close()) }()
	width, columns := len(names), rows.Columns()
	if len(columns) != width+b.Shape.extra() {
		return false, nil
	}
	for i, name := range names {
		if columns[i] != name {
			return false, nil
		}
	}
	of := make(map[plainKey]*childKey, len(keys))
	for _, c := range keys {
		p, known := plainOf(b.Kind, c.args[b.Key].Value)
		if !known {
			return false, nil
		}
		of[p] = c
	}
	row := make([]driver.Value, width+b.Shape.extra())
	total := int64(0)
	for {
		switch err := rows.Next(row); {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, err
		}
		c := b.keyOf(row, width, keys, of)
		if c == nil {
			return false, nil
		}
		if c.rows == nil {
			c.rows = make([]driver.Value, 0, width)
		}
		for _, v := range row[:width] {
			v = own(v)
			c.size += size(v)
			total += size(v)
			c.rows = append(c.rows, v)
		}
		if total > mostBatchBytes || c.size > mostEntryBytes {
			return false, nil
		}
	}
}

// fillTotals gives the keys without rows the totals of nothing. They do not depend on the
// arguments, and are asked for once.
func (k *conn) fillTotals(ctx context.Context, b *batch, keys []*childKey, binary bool) bool {
	var empty []driver.Value
	for _, c := range keys {
		if len(c.rows) > 0 {
			continue
		}
		if empty == nil {
			if empty = k.emptyTotals(ctx, b, c.args, binary); empty == nil {
				return false
			}
		}
		c.rows = empty // of entries, which nothing changes
	}
	return true
}

func (k *conn) emptyTotals(ctx context.Context, b *batch, args []driver.NamedValue, binary bool) []driver.Value {
	if known, ok := b.empties[protocol(binary)].Load().([]driver.Value); ok {
		return known
	}
	others := append(append([]driver.NamedValue{}, args[:b.Key]...), args[b.Key+1:]...)
	rows, err := k.askBase(ctx, b.Empty, named(plain(others)), binary)
	if err != nil {
		return nil
	}
	a, err := readAll(rows)
	if err != nil || a.rest != nil || len(a.values) == 0 || len(a.values) != len(a.info.names) {
		return nil
	}
	b.empties[protocol(binary)].Store(a.values)
	return a.values
}

// Answers of batches in an open transaction are those of its snapshot: only it may have
// them, and only until it writes.

// mostPrivate bounds the answers that a connection keeps for its transaction.
const mostPrivate = 4096

func (k *conn) keepPrivately(e *entry) {
	if k.private == nil {
		k.private = map[entryKey]*entry{}
	}
	if len(k.private) < mostPrivate {
		k.private[e.key] = e
	}
}

// kept finds an answer that the connection may give; nil without one.
func (k *conn) kept(key entryKey, st *statement, args []driver.NamedValue) *entry {
	if !k.open || k.cache.plan.plan.Isolation && len(k.pending) == 0 {
		if e := k.cache.store.find(key, st, args); e != nil || !k.open {
			return e
		}
	}
	if e := k.private[key]; e != nil && e.matches(st, args) {
		e.use()
		return e
	}
	return nil
}

// mayKeep reports whether answers of a statement may be kept or taken at all: in a
// transaction only until it has written.
func (k *conn) mayKeep(st *statement) bool {
	return st.keep && !k.bypass && !k.unsure && !k.orphan() && !(k.open && len(k.pending) > 0)
}

// alive reports whether the connection can be used after an error.
func (k *conn) alive() bool {
	v, ok := k.base.(validator)
	return !ok || v.IsValid()
}
