package accesslog

import (
	"bytes"
	"math"
	"strings"
	"sync/atomic"

	"github.com/iikanji/iikanji/internal/logs/filter"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// A counter is one worker: it parses lines and counts them. Workers share
// nothing.
type counter struct {
	formats []format
	parsers []parser // by file, made on first use
	needs   fieldSet
	rec     record
	file    int // the file that rec was last used for

	router    *router
	table     *tally.Table[row] // rows of every grouping but ByRoute
	keys      keyer
	where     []filter.Condition[subject]
	subject   subject // of where
	since     int64   // ns since 1970; lines outside [since, until) are left out
	until     int64
	ranged    bool
	perSecond bool
	ticks     *tally.Window
	learning  bool // the routes of these lines are learned from
	done      *atomic.Int64
	slowest   slowest

	files []intake
}

// An intake counts the lines of one file that one worker read.
type intake struct {
	lines, bytes int64 // blank lines are not counted
	bad, left    int64
	other        int64 // messages among the requests, not in lines
	first, last  int64 // stamps of all lines that parsed
	counted      span  // stamps of the lines that were not left out
	badLines     []badLine
	badSample    []badLine // longer texts, to find another format
	begins       [maxFormats]beginning
	unfinished   bool // the last line has no newline and did not parse
}

type span struct{ first, last int64 }

type badLine struct {
	at   place
	text string
	why  string
}

const maxQuote = 160

func newIntakes(n int) []intake {
	all := make([]intake, n)
	for i := range all {
		all[i] = intake{first: math.MaxInt64, last: noTime, counted: span{math.MaxInt64, noTime}}
	}
	return all
}

// block counts the lines of a block.
func (c *counter) block(b *lines.Block) error { return countBlock(b, []*counter{c}) }

// countBlock counts the lines of a block with several counters whose logs have
// the same formats. The parser of the first one parses each line once, for all.
func countBlock(b *lines.Block, all []*counter) error {
	c := all[0]
	for _, o := range all {
		o.files[b.File].bytes += int64(len(b.Data)) + b.Dropped
		if o.done != nil {
			o.done.Add(int64(len(b.Data)) + b.Dropped)
		}
		if b.Dropped > 0 {
			in := &o.files[b.File]
			in.lines++
			in.spoil(place{int32(b.File), int32(b.Seq), 0}, b.Data, "is longer than the limit of 1 MiB")
		}
	}
	if b.Dropped > 0 {
		b.Records = 1
		return nil
	}
	p := c.parser(b.File)
	changes, _ := p.(*changingParser)
	data := b.Data
	n := int32(0)
	for ; len(data) > 0; n++ {
		at := b.Offset + int64(len(b.Data)-len(data))
		line, whole := data, true
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			line, data = data[:i], data[i+1:]
		} else {
			data, whole = nil, false
		}
		if k := len(line); k > 0 && line[k-1] == '\r' {
			line = line[:k-1]
		}
		if len(line) == 0 {
			continue
		}
		why := p.parse(line, &c.rec)
		if why > 0 && isMessage(line) {
			why = otherLine
		}
		for _, o := range all {
			in, here := &o.files[b.File], place{int32(b.File), int32(b.Seq), n}
			in.lines++
			switch {
			case why == 0:
				if changes != nil {
					in.begin(changes.current, here)
				}
				o.line(in, &c.rec, here, at)
			case why < 0 || !whole:
				in.leave(why)
			default:
				in.spoil(here, line, c.formats[b.File].explain(why))
			}
		}
	}
	b.Records = int(n)
	return nil
}

// leave takes back a line that is not a request, or that is not finished yet.
func (in *intake) leave(why reason) {
	in.lines--
	in.unfinished = in.unfinished || why > 0
	if why == otherLine {
		in.other++
	}
}

// parser returns the worker's parser of a file and clears rec when the file
// changes.
func (c *counter) parser(file int) parser {
	if c.parsers[file] == nil {
		c.parsers[file] = c.formats[file].parser(c.needs)
	}
	if file != c.file {
		c.rec.clear()
		c.file = file
	}
	return c.parsers[file]
}

// line counts a line that begins at an offset of its log.
func (c *counter) line(in *intake, rec *record, at place, offset int64) {
	if rec.at != noTime {
		in.first, in.last = min(in.first, rec.at), max(in.last, rec.at)
	}
	if c.ranged || c.where != nil {
		if !c.wanted(rec) {
			in.left++
			return
		}
		if rec.at != noTime {
			in.counted = span{min(in.counted.first, rec.at), max(in.counted.last, rec.at)}
		}
	}
	if c.slowest.limit > 0 {
		c.slowest.add(rec, at)
	}
	w := c.row(rec)
	w.add(rec, at)
	if c.perSecond {
		w.second(rec)
	}
	if c.ticks != nil {
		w.tick(rec, c.ticks, offset)
	}
}

// row finds the row of a line; routes are learned from the line.
func (c *counter) row(rec *record) *row {
	if c.router == nil {
		w := c.table.At(c.keys.key(rec))
		if w.count == 0 {
			w.example.took = noTime
		}
		return w
	}
	w := c.router.find(rec)
	if c.learning {
		w.addSize(rec.size)
		c.router.noteUser(w, rec.user)
		w.addReferer(rec)
	}
	return w
}

func (c *counter) wanted(rec *record) bool {
	if c.ranged && (rec.at < c.since || rec.at >= c.until) {
		return false
	}
	c.subject.rec = rec
	for i := range c.where {
		if !c.where[i].Holds(&c.subject) {
			return false
		}
	}
	return true
}

// spoil counts a bad line and keeps the first few.
func (in *intake) spoil(at place, line []byte, why string) {
	in.bad++
	if len(in.badLines) < tally.MaxBadLines {
		in.badLines = append(in.badLines, badLine{at, quote(line), why})
	}
	if len(in.badSample) < maxBadSample && len(line) <= maxBadText {
		in.badSample = append(in.badSample, badLine{at: at, text: string(line)})
	}
}

// quote returns the beginning of a line as valid UTF-8.
func quote(line []byte) string {
	s := strings.ToValidUTF8(string(line[:min(len(line), maxQuote)]), "\uFFFD")
	if len(line) > maxQuote {
		s += "…"
	}
	return s
}

// add adds the counts of another worker for the same file.
func (in *intake) add(o *intake) {
	in.lines += o.lines
	in.bytes += o.bytes
	in.bad += o.bad
	in.left += o.left
	in.other += o.other
	in.first, in.last = min(in.first, o.first), max(in.last, o.last)
	in.counted = span{min(in.counted.first, o.counted.first), max(in.counted.last, o.counted.last)}
	in.badLines = append(in.badLines, o.badLines...)
	in.badSample = append(in.badSample, o.badSample...)
	in.unfinished = in.unfinished || o.unfinished
	for i, b := range o.begins {
		if b.seen {
			in.begin(i, b.place)
		}
	}
}
