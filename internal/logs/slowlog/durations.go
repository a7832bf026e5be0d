package slowlog

import (
	"cmp"
	"maps"
	"slices"
)

// A durations joins entries of PostgreSQL that are about one execution: the
// duration on a line of its own (log_duration with log_statement), and the bind,
// in which the server plans the statement.
type durations struct {
	c       *collector
	pending map[uint64]*pendingStatement // by process id
	bind    map[uint64]int64             // time of the bind before an execution, in ns
}

// A pendingStatement is a statement whose duration has not come yet. It keeps a
// copy of its texts, because the batch may be gone when the duration comes.
type pendingStatement struct {
	ev   event
	data []byte
	line int64 // in the file
}

func newDurations(c *collector) *durations {
	return &durations{c: c, pending: map[uint64]*pendingStatement{}, bind: map[uint64]int64{}}
}

// event handles an event of a PostgreSQL log.
func (d *durations) event(ev *event) {
	switch ev.kind {
	case kindBind:
		if len(d.bind) < maxThreads {
			d.bind[ev.thread] = ev.query
		}
		return
	case kindDuration:
		p := d.pending[ev.thread]
		if p == nil {
			d.c.loneDurations++
			return
		}
		p.ev.query = ev.query
		p.ev.flags &^= flagUntimed
		d.flush(p)
		return
	}
	if p := d.pending[ev.thread]; p != nil {
		d.flush(p)
	}
	if ev.flags&flagUntimed != 0 {
		d.keep(ev)
		return
	}
	if ev.kind != kindPrepare {
		ev.query += d.bind[ev.thread]
		delete(d.bind, ev.thread)
	}
	d.c.event(ev)
}

// keep copies a statement until its duration comes.
func (d *durations) keep(ev *event) {
	if len(d.pending) >= maxThreads {
		d.flushAll()
	}
	p := &pendingStatement{ev: *ev, line: d.c.lineOf(ev)}
	own := func(s span, most int) span {
		from := len(p.data)
		text := s.of(d.c.batch.data)
		p.data = append(p.data, text[:min(len(text), most)]...)
		return span{int32(from), int32(len(p.data))}
	}
	p.ev.sql, p.ev.user, p.ev.db, p.ev.host = own(ev.sql, maxExample+1), own(ev.user, 128), own(ev.db, 128), own(ev.host, 128)
	d.pending[ev.thread] = p
}

// flush counts a statement, with or without its duration.
func (d *durations) flush(p *pendingStatement) {
	delete(d.pending, p.ev.thread)
	if p.ev.flags&flagUntimed != 0 {
		d.c.untimed++
	}
	before := d.c.batch
	d.c.batch = &batch{data: p.data}
	p.ev.fileLine = p.line
	d.c.event(&p.ev)
	d.c.batch = before
}

// flushAll counts all statements whose duration has not come, in the order of the
// log.
func (d *durations) flushAll() {
	for _, p := range slices.SortedFunc(maps.Values(d.pending), func(a, b *pendingStatement) int { return cmp.Compare(a.line, b.line) }) {
		d.flush(p)
	}
}
