package sqlcache

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"
)

// A conn is a connection of the wrapped driver. database/sql uses it from one
// goroutine at a time.
type conn struct {
	base      driver.Conn
	connector *connector
	cache     *Cache
	number    int64 // the server's number of the connection; 0: it has none
	file      int64 // the number of the file, see file.go; 0: a server
	// open: a transaction may be open, so that the answers are of its snapshot and
	// the writes are not committed.
	open bool
	// locks: reads of the open transaction lock their rows.
	locks bool
	// unsure: a statement may have left anything behind on the connection.
	unsure bool
	// bypass: a setting of the session may change answers.
	bypass bool
	// broken: the connection is not to be used again.
	broken bool
	// pending are the slots of the open transaction's writes, each once.
	pending map[*slot]struct{}
	// private are answers of batches that only the open transaction may have.
	private map[entryKey]*entry
}

// reach prepares the state for a statement and returns the slots that it puts
// in doubt.
func (k *conn) reach(st *statement, args []driver.NamedValue) []*slot {
	switch st.class {
	case reads, savepoint, ends:
		return nil
	case session:
		k.bypass = true
		return nil
	case begins:
		k.open, k.private = true, nil
		return nil
	case unsure:
		k.open, k.unsure = true, true
	case reaches:
		k.open, k.unsure = true, true
		k.cache.disable()
	}
	return k.mark(st.writeSlots(k.cache.plan, k.connector.space, args))
}

// contains reports whether a slot is in a list.
func contains(list []*slot, s *slot) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

// mark puts slots in doubt, each once, and without those that the open
// transaction has in doubt already.
func (k *conn) mark(slots []*slot) []*slot {
	marked := slots[:0]
	for _, s := range slots {
		if _, already := k.pending[s]; already || contains(marked, s) {
			continue
		}
		s.doubt()
		marked = append(marked, s)
	}
	return marked
}

// ended is called with the answer to a statement.
func (k *conn) ended(st *statement, marked []*slot, err error) {
	switch {
	case err != nil && len(marked)+len(k.pending) > 0 && !k.answered():
		k.lose(marked)
	case k.open && st.class != ends:
		if k.pending == nil && len(marked) > 0 {
			k.pending = map[*slot]struct{}{}
		}
		for _, s := range marked {
			k.pending[s] = struct{}{}
		}
	case st.class == ends && err == nil:
		k.finish()
	default:
		settle(marked)
	}
}

// finish ends a transaction whose end was answered. On an unsure connection a
// further transaction may be open.
func (k *conn) finish() {
	k.open, k.private = k.unsure, nil
	for s := range k.pending {
		s.settle()
	}
	k.pending = nil
}

func settle(slots []*slot) {
	for _, s := range slots {
		s.settle()
	}
}

// pingLimit bounds the question whether a connection still answers.
const pingLimit = 2 * time.Second

// answered reports after an error whether the statement has ended. It has if
// the connection answers a later command, since a connection's commands are
// executed in order. The drivers of SQLite return when the statement has ended.
func (k *conn) answered() bool {
	if k.cache.plan.plan.Dialect == SQLite {
		return true
	}
	if v, ok := k.base.(validator); ok && !v.IsValid() {
		return false
	}
	p, ok := k.base.(driver.Pinger)
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingLimit)
	defer cancel()
	return p.Ping(ctx) == nil
}

// lose gives the connection up: its writes stay in doubt until the server has
// ended it.
func (k *conn) lose(marked []*slot) {
	k.broken = true
	for s := range k.pending {
		marked = append(marked, s)
	}
	k.pending = nil
	k.cache.lost.add(k.connector.base, k.number, marked)
}

// orphan reports whether the path of the connection's file leads to another file now.
func (k *conn) orphan() bool { return k.file != atomic.LoadInt64(&k.connector.space.number) }

// lookup gives a kept answer, or what is needed to keep the one that the
// database gives. Both are nil if the statement goes past the cache.
func (k *conn) lookup(st *statement, args []driver.NamedValue, binary bool) (*entry, *fill) {
	if !k.mayKeep(st) || k.open && !k.cache.plan.plan.Isolation && k.private == nil {
		return nil, nil
	}
	sum, ok := k.cache.hash.arguments(st.hash, args)
	if !ok {
		return nil, nil
	}
	key := entryKey{sum, k.connector.source, binary}
	if e := k.kept(key, st, args); e != nil {
		add(&st.counts.hits)
		return e, nil
	}
	if k.open {
		return nil, nil
	}
	deps, ok := st.readDeps(k.cache.plan, k.connector.space, args, make([]dep, 0, 6))
	if !ok {
		return nil, nil
	}
	for _, d := range deps {
		if inDoubt(d.state) {
			add(&st.counts.doubted)
			return nil, nil
		}
	}
	if k.orphan() { // the states may be of the file that came in the place of this one
		return nil, nil
	}
	return nil, &fill{k.cache, st, key, args, deps}
}

// A fill is an answer on its way into the cache.
type fill struct {
	cache *Cache
	stmt  *statement
	key   entryKey
	args  []driver.NamedValue
	deps  []dep // states from before the query was sent
}

// keep reads the answer and stores it, unless a write has moved a slot since.
func (f *fill) keep(rows driver.Rows) (driver.Rows, error) {
	add(&f.stmt.counts.missed)
	a, err := readAll(rows)
	if err != nil {
		return nil, err
	}
	if a.rest != nil {
		return a.open(), nil
	}
	f.stmt.describes(a.info, f.key.binary)
	if !holds(f.deps) {
		add(&f.stmt.counts.dropped)
		return a.open(), nil
	}
	const perEntry = 256
	e := &entry{key: f.key, stmt: f.stmt, deps: f.deps, columns: a.info, values: a.values, bytes: a.bytes + perEntry}
	for _, arg := range f.args {
		v := own(arg.Value)
		e.args = append(e.args, v)
		e.bytes += size(v)
	}
	if f.stmt.noted {
		e.answer = answerOf(f.stmt, a.info, a.values)
		f.cache.parents.note(e.answer)
	}
	f.cache.store.put(e)
	return a.open(), nil
}

// note remembers the keys in the rows of an answer that is not kept.
func (k *conn) note(st *statement, rows driver.Rows, binary bool) (driver.Rows, error) {
	a, err := readAll(rows)
	if err != nil {
		return nil, err
	}
	st.describes(a.info, binary)
	k.cache.parents.note(answerOf(st, a.info, a.values))
	return a.open(), nil
}

// give gives a kept answer to a reader.
func (k *conn) give(e *entry) driver.Rows {
	if e.answer != nil {
		k.cache.parents.note(e.answer)
	}
	return e.open()
}

// query sends a statement through send and keeps its answer if it may.
func (k *conn) query(ctx context.Context, st *statement, args []driver.NamedValue, binary bool, send func() (driver.Rows, error)) (driver.Rows, error) {
	e, f := k.lookup(st, args, binary)
	if e != nil {
		return k.give(e), nil
	}
	if rows, err := k.readBatch(ctx, st, args, binary); rows != nil || err != nil {
		return rows, err
	}
	marked := k.reach(st, args)
	if len(st.batches) > 0 {
		defer st.timed(time.Now())
	}
	rows, err := send()
	switch {
	case errors.Is(err, driver.ErrSkip):
		settle(marked) // nothing was sent
		return nil, driver.ErrSkip
	case err != nil:
		k.ended(st, marked, err)
		return nil, err
	case f != nil:
		return f.keep(rows)
	case st.class == reads && st.noted && k.cache.plan.plan.Dialect != SQLite: // which finds rows as they are read
		return k.note(st, rows, binary)
	case st.class == reads:
		return rows, nil
	}
	return &writtenRows{described: described{describe(rows)}, base: rows, done: func(err error) { k.ended(st, marked, err) }}, nil
}

// exec sends a statement whose rows nothing reads.
func (k *conn) exec(st *statement, args []driver.NamedValue, send func() (driver.Result, error)) (driver.Result, error) {
	marked := k.reach(st, args)
	res, err := send()
	if errors.Is(err, driver.ErrSkip) {
		settle(marked)
		return nil, driver.ErrSkip
	}
	k.ended(st, marked, err)
	return res, err
}

func (k *conn) find(text string) *statement { return k.cache.texts.find(k.cache.plan, text) }

// QueryContext implements driver.QueryerContext.
func (k *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	st := k.find(text)
	binary := len(args) > 0 && atomic.LoadUint32(&k.connector.skips) != 0
	q, ok := k.base.(driver.QueryerContext)
	if binary || !ok {
		// A hit saves the round trip that prepares the statement.
		if e, _ := k.lookup(st, args, true); e != nil {
			return k.give(e), nil
		}
		if rows, err := k.readBatch(ctx, st, args, true); rows != nil || err != nil {
			return rows, err
		}
		return nil, driver.ErrSkip
	}
	rows, err := k.query(ctx, st, args, false, func() (driver.Rows, error) { return q.QueryContext(ctx, text, args) })
	if len(args) > 0 && errors.Is(err, driver.ErrSkip) {
		atomic.StoreUint32(&k.connector.skips, 1)
	}
	return rows, err
}

// ExecContext implements driver.ExecerContext.
func (k *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	x, ok := k.base.(driver.ExecerContext)
	if !ok || len(args) > 0 && atomic.LoadUint32(&k.connector.skips) != 0 {
		return nil, driver.ErrSkip
	}
	return k.exec(k.find(text), args, func() (driver.Result, error) { return x.ExecContext(ctx, text, args) })
}

// Close implements driver.Conn. Writes of a transaction that is still open stay
// in doubt until the connection has ended.
func (k *conn) Close() error {
	err := k.base.Close()
	if len(k.pending) > 0 && k.cache.plan.plan.Dialect == SQLite {
		k.unsure = false
		k.finish() // a transaction ends with its connection
	}
	if len(k.pending) > 0 {
		k.lose(nil)
	}
	return err
}

// Ping implements driver.Pinger.
func (k *conn) Ping(ctx context.Context) error {
	if p, ok := k.base.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

// ResetSession implements driver.SessionResetter.
func (k *conn) ResetSession(ctx context.Context) error {
	if k.broken {
		return driver.ErrBadConn
	}
	if r, ok := k.base.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// A validator is a driver.Validator, which Go 1.15 brought.
type validator interface{ IsValid() bool }

// IsValid implements driver.Validator.
func (k *conn) IsValid() bool {
	if k.broken {
		return false
	}
	v, ok := k.base.(validator)
	return !ok || v.IsValid()
}

// CheckNamedValue implements driver.NamedValueChecker.
func (k *conn) CheckNamedValue(v *driver.NamedValue) error {
	if c, ok := k.base.(driver.NamedValueChecker); ok {
		return c.CheckNamedValue(v)
	}
	return driver.ErrSkip
}
