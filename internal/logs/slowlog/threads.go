package slowlog

// maxThreads is the number of threads that are followed at a time. When there are
// more, the half without recent statements is dropped. No server has so many
// connections, but a log without Quit commands can name so many.
const maxThreads = 1 << 15

// threads follows what each thread does: its transaction and what it repeats.
type threads struct {
	collector *collector
	now       map[uint64]*thread // seen since threads were dropped last
	old       map[uint64]*thread // last seen before that
	last      *thread

	statements int64 // of threads
	shortest   int64 // time of the shortest statement, in ns
}

// A thread is one connection to the server.
type thread struct {
	id   uint64
	step int64 // statements so far
	txn  transaction
	runs [maxRuns]run

	prepares int64 // Prepare commands without an execution so far
	prepTime int64
	executed *digest // the last executed statement
}

func (t *threads) init(c *collector) {
	t.collector = c
	t.now, t.old = map[uint64]*thread{}, map[uint64]*thread{}
}

// reset ends all threads, when the server was started or another log begins.
func (t *threads) reset() {
	for _, m := range []map[uint64]*thread{t.old, t.now} {
		for _, th := range m {
			t.end(th)
		}
		clear(m)
	}
	t.last = nil
}

// end ends a thread's runs and its transaction.
func (t *threads) end(th *thread) {
	for i := range th.runs {
		th.runs[i].end()
	}
	th.txn.abandon(&t.collector.shapes)
}

// of returns the thread with an id.
func (t *threads) of(id uint64) *thread {
	if t.last != nil && t.last.id == id {
		return t.last
	}
	th := t.now[id]
	if th == nil {
		if th = t.old[id]; th != nil {
			delete(t.old, id)
		} else {
			th = &thread{id: id}
		}
		if len(t.now) >= maxThreads/2 {
			for _, o := range t.old {
				t.end(o)
			}
			clear(t.old)
			t.now, t.old = t.old, t.now
		}
		t.now[id] = th
	}
	t.last = th
	return th
}

// event adds one statement to its thread. Without thread ids there are no
// transactions and no repetition.
func (t *threads) event(ev *event, d *digest) {
	if ev.thread == 0 {
		return
	}
	th := t.of(ev.thread)
	switch ev.kind {
	case kindPrepare:
		th.prepares++
		th.prepTime += ev.query
		return
	case kindClose:
		if th.executed != nil {
			th.executed.prepTime += ev.query
		}
		return
	case kindPing, kindExecute:
		return
	case kindQuit:
		t.end(th)
		*th = thread{id: th.id}
		return
	}
	if t.statements++; t.statements == 1 || ev.query < t.shortest {
		t.shortest = ev.query
	}
	if th.prepares > 0 {
		d.prepares += th.prepares
		d.prepTime += th.prepTime
		th.prepares, th.prepTime = 0, 0
	}
	th.executed = d
	if ev.flags&flagRoutine == 0 { // the CALL represents the statements of its routine
		th.repeats(ev, d)
		th.txn.event(ev, d, t.collector)
	}
}
