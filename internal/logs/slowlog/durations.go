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
	before  map[uint64]*pendingStatement // by process id: a bind or a plan
}

// A pendingStatement is a statement whose duration has not come yet. It keeps a
// copy of its texts, because the batch may be gone when the duration comes.
type pendingStatement struct {
	ev   event
	data []byte
	line int64 // in the file
}

func newDurations(c *collector) *durations {
	return &durations{c: c, pending: map[uint64]*pendingStatement{}, before: map[uint64]*pendingStatement{}}
}

// event handles an event of a PostgreSQL log.
func (d *durations) event(ev *event) {
	switch ev.kind {
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
	switch {
	case ev.flags&(flagBind|flagPlan) != 0:
		d.join(ev, true)
		d.before[ev.thread] = d.copyOf(ev)
	case ev.flags&flagUntimed != 0:
		if len(d.pending) >= maxThreads {
			d.flushAll()
		}
		d.pending[ev.thread] = d.copyOf(ev)
	default:
		if ev.kind != kindPrepare {
			d.join(ev, false)
		}
		d.c.event(ev)
	}
}

// join handles the bind or plan before an event of the same process. If both are about
// one execution, the time of a bind is added to it, and a plan, which has the same time
// again, is left out. Otherwise it counts by itself: the execution was too fast to be
// logged.
func (d *durations) join(ev *event, only bool) {
	p := d.before[ev.thread]
	if p == nil {
		if only && len(d.before) >= maxThreads {
			d.flushBefore()
		}
		return
	}
	delete(d.before, ev.thread)
	same := p.ev.digest == ev.digest
	switch {
	case same && p.ev.flags&flagPlan != 0 && !only:
	case same && p.ev.flags&flagBind != 0 && ev.flags&flagBind == 0:
		ev.query += p.ev.query
	default:
		d.count(p)
	}
}

// copyOf copies a statement until the rest of what the log says of it comes.
func (d *durations) copyOf(ev *event) *pendingStatement {
	p := &pendingStatement{ev: *ev, line: d.c.lineOf(ev)}
	own := func(s span, most int) span {
		from := len(p.data)
		text := s.of(d.c.batch.data)
		p.data = append(p.data, text[:min(len(text), most)]...)
		return span{int32(from), int32(len(p.data))}
	}
	p.ev.sql, p.ev.user, p.ev.db, p.ev.host = own(ev.sql, maxExample+1), own(ev.user, 128), own(ev.db, 128), own(ev.host, 128)
	return p
}

// flush counts a statement, with or without its duration.
func (d *durations) flush(p *pendingStatement) {
	delete(d.pending, p.ev.thread)
	if p.ev.flags&flagUntimed != 0 {
		d.c.untimed++
	}
	d.join(&p.ev, false)
	d.count(p)
}

// count counts a statement that was kept.
func (d *durations) count(p *pendingStatement) {
	before := d.c.batch
	d.c.batch = &batch{data: p.data}
	p.ev.fileLine = p.line
	d.c.event(&p.ev)
	d.c.batch = before
}

// flushAll counts all statements whose duration has not come, and binds and plans that
// no execution followed, in the order of the log.
func (d *durations) flushAll() {
	for _, p := range slices.SortedFunc(maps.Values(d.pending), byLine) {
		d.flush(p)
	}
	d.flushBefore()
}

func (d *durations) flushBefore() {
	for _, p := range slices.SortedFunc(maps.Values(d.before), byLine) {
		delete(d.before, p.ev.thread)
		d.count(p)
	}
}

func byLine(a, b *pendingStatement) int { return cmp.Compare(a.line, b.line) }
