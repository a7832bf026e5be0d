package slowlog

import (
	"bytes"
	"sync"

	"github.com/iikanji/iikanji/internal/lines"
)

// boundary cuts slow logs before User@Host lines; the # Time: line of an entry
// then ends the block before it (see batch.tail).
var boundary = lines.Boundary{Find: findEntry, Ahead: ahead}

// A batch is a block that was parsed: entries in the order of the log.
type batch struct {
	offset int64 // of data in its input
	end    int64 // where the next block begins
	data   []byte
	events []event
	bad    []badEvent
	tail   int64 // time that a # Time: line at the end gives the next entry
	lead   bool  // the first bytes are the end of an entry that is missing
}

// A badEvent is an entry that could not be read.
type badEvent struct {
	from, to int32
	before   int // events in the batch that stand before it
	why      string
}

// parse fills b from a block whose data b keeps no longer than the block lives.
func (b *batch) parse(blk *lines.Block, p *parser, first bool) {
	*b = batch{offset: blk.Offset, end: blk.Offset + int64(len(blk.Data)) + blk.Dropped, data: blk.Data, events: b.events[:0], bad: b.bad[:0]}
	p.data, p.pos, p.time, p.cut = blk.Data, 0, 0, blk.Dropped > 0
	if first && !startsEntry(p.data, 0) {
		b.preface(p)
	}
	for p.pos < len(p.data) {
		b.events = append(b.events, event{})
		ev := &b.events[len(b.events)-1]
		if why := p.next(ev); why != "" {
			b.bad = append(b.bad, badEvent{ev.start, int32(p.pos), len(b.events) - 1, why})
			if ev.flags&flagRestart == 0 {
				b.events = b.events[:len(b.events)-1]
			} else {
				*ev = event{flags: flagRestart | flagNone}
			}
		}
		if p.rest > 0 {
			b.bad = append(b.bad, badEvent{int32(p.rest), int32(p.pos), len(b.events), whyCut})
		}
	}
	b.tail = p.time
	blk.Records = len(b.events) + len(b.bad)
}

// preface passes over what stands before the first entry of a log: the lines
// of a starting server, or the rest of an entry that was cut off.
func (b *batch) preface(p *parser) {
	ev := event{}
	end := findEntry(p.data, 1)
	if end < 0 {
		end = len(p.data)
	}
	rest := p.tail(end, &ev)
	p.pos = end
	if lead := bytes.TrimSpace(p.data[:rest]); len(lead) > 0 {
		b.lead = true
		b.bad = append(b.bad, badEvent{0, int32(rest), 0, "the log begins inside an entry"})
	}
}

// own copies the data, so that the batch can outlive its block.
func (b *batch) own() { b.data = bytes.Clone(b.data) }

// A sequencer takes batches from workers in any order and folds them in the
// order of the log: what a statement means for its thread depends on what came
// before it. Parsing takes most of the time, so little is lost by it.
type sequencer struct {
	mu      sync.Mutex
	next    int64
	waiting map[int64]*batch
	fold    func(*batch)
}

// put folds b, or keeps it until its turn comes; it returns a batch to use next.
func (s *sequencer) put(b *batch) *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.offset != s.next {
		b.own()
		s.waiting[b.offset] = b
		return new(batch)
	}
	for now := b; now != nil; now = s.waiting[s.next] {
		delete(s.waiting, now.offset)
		s.next = now.end
		s.fold(now)
	}
	return b
}
