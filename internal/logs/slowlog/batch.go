package slowlog

import (
	"bytes"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// boundary cuts slow logs before User@Host lines. The # Time: line of an entry is
// then the end of the block before it (see batch.tail).
var boundary = lines.Boundary{Find: findEntry, Ahead: ahead}

// A batch is a parsed block: its entries in the order of the log.
type batch struct {
	offset int64 // of data in its input
	end    int64 // where the next block begins
	data   []byte
	events []event
	bad    []badEvent
	tail   int64 // time of a # Time: line at the end, which belongs to the next entry
	errors int64 // of statements, which have no duration
	lines  int64 // of the block, where data is not the block's; -1 otherwise
}

// A badEvent is an entry that could not be read.
type badEvent struct {
	from, to int32
	before   int   // number of events before it in the batch
	line     int32 // in the block, from 1; 0 where from determines it
	why      string
}

// parse fills b from a block. b refers to the block's data until own is called.
func (b *batch) parse(blk *lines.Block, p *parser, first bool) {
	*b = batch{offset: blk.Offset, end: blk.Offset + int64(len(blk.Data)) + blk.Dropped, data: blk.Data, events: b.events[:0], bad: b.bad[:0], lines: -1}
	p.data, p.pos, p.time, p.cut = blk.Data, 0, 0, blk.Dropped > 0
	if first && !startsEntry(p.data, 0) {
		b.preface(p)
	}
	for p.pos < len(p.data) {
		b.events = append(b.events, event{})
		ev := &b.events[len(b.events)-1]
		if why := p.next(ev); why != "" {
			b.bad = append(b.bad, badEvent{ev.start, int32(p.pos), len(b.events) - 1, 0, why})
			if ev.flags&flagRestart == 0 {
				b.events = b.events[:len(b.events)-1]
			} else {
				*ev = event{flags: flagRestart | flagNone}
			}
		}
		if p.rest > 0 {
			b.bad = append(b.bad, badEvent{int32(p.rest), int32(p.pos), len(b.events), 0, whyCut})
		}
	}
	b.tail = p.time
	blk.Records = len(b.events) + len(b.bad)
}

// preface skips what comes before the first entry of a log: the lines of a server
// start, or the rest of a cut-off entry.
func (b *batch) preface(p *parser) {
	ev := event{}
	end := findEntry(p.data, 1)
	if end < 0 {
		end = len(p.data)
	}
	rest := p.tail(end, &ev)
	p.pos = end
	if lead := bytes.TrimSpace(p.data[:rest]); len(lead) > 0 {
		b.bad = append(b.bad, badEvent{0, int32(rest), 0, 0, whyLead})
	}
}

// reset prepares b for texts that are not the block's own data.
func (b *batch) reset(blk *lines.Block) {
	data := b.data[:0]
	if b.lines < 0 { // the data of a block
		data = nil
	}
	*b = batch{offset: blk.Offset, end: blk.Offset + int64(len(blk.Data)) + blk.Dropped, data: data, events: b.events[:0], bad: b.bad[:0],
		lines: int64(bytes.Count(blk.Data, []byte{'\n'}))}
}

// addBad adds an entry of a block that cannot be read.
func (b *batch) addBad(text []byte, line int32, why string) {
	from := int32(len(b.data))
	b.data = append(b.data, text[:min(len(text), 400)]...)
	b.bad = append(b.bad, badEvent{from, int32(len(b.data)), len(b.events), line, why})
}

// own copies the data, so that the batch stays valid after its block.
func (b *batch) own() { b.data = bytes.Clone(b.data) }
