package slowlog

// maxThreads is how many threads are followed at a time; the longest silent
// half is given up when there are more, which a log of closed connections that
// does not say so (no Quit) reaches and no server does.
const maxThreads = 1 << 15

// threads follows what each thread does: its transaction and what it repeats.
type threads struct {
	fold *fold
	now  map[uint64]*thread // seen since the last turn
	old  map[uint64]*thread // seen before it
	last *thread
}

// A thread is one connection to the server.
type thread struct {
	id   uint64
	step int64 // statements so far
	txn  transaction
	runs [maxRuns]run

	prepares int64 // Prepare commands that wait for an execution
	prepTime int64
	executed *digest // what was executed last
}

func (t *threads) init(f *fold) {
	t.fold = f
	t.now, t.old = map[uint64]*thread{}, map[uint64]*thread{}
}

// reset ends all threads: the server was started again, or another log begins.
func (t *threads) reset() {
	for _, m := range []map[uint64]*thread{t.old, t.now} {
		for _, th := range m {
			t.end(th)
		}
		clear(m)
	}
	t.last = nil
}

// end closes what a thread has open.
func (t *threads) end(th *thread) {
	for i := range th.runs {
		th.runs[i].end()
	}
	th.txn.abandon(&t.fold.shapes)
}

// of finds a thread.
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

// event follows one statement of a thread. Without thread ids nothing can be
// said about transactions and repetition.
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
	if th.prepares > 0 {
		d.prepares += th.prepares
		d.prepTime += th.prepTime
		th.prepares, th.prepTime = 0, 0
	}
	th.executed = d
	if ev.flags&flagRoutine == 0 { // CALL stands for what its routine does
		th.repeats(ev, d)
		th.txn.event(ev, d, t.fold)
	}
}
