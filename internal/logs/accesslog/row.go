package accesslog

import (
	"math"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// A row holds the counts of one worker for one key.
type row struct {
	count           int64
	times           tally.Sketch
	status          [6]int64
	bytes, maxBytes int64
	// Of the responses with a size that were read for learning: their number,
	// and the sums of the base 2 logarithms of the sizes and of their squares, in
	// units of 1/16.
	sized, logSize, logSizeSq int64
	from                      *referers // of the requests that were read for learning; nil if none has one
	upstream, upstreams       int64     // upstream is in ns; upstreams counts lines that have it
	reqBytes, maxReq          int64
	seconds                   *tally.Seconds // nil unless Options.PerSecond is set
	ticks                     *tally.Ticks   // nil unless Options.Ticks is set
	example                   sight
	method                    method
	kept                      bool // in a router: learned from the prefix, never overflows
	hash                      uint64
	node                      uint32
	next                      int32 // row of the next method of the same node, -1 for none
}

// A sight is the slowest request of a row.
type sight struct {
	took  int64 // -1: this log has no times; noTime: no request yet
	place place
	text  []byte
}

// A place identifies a line by file and block. The line number is known once
// the blocks before it are counted.
type place struct {
	file, seq int32
	line      int32 // index within the block, from 0
}

func (p place) before(o place) bool {
	if p.file != o.file {
		return p.file < o.file
	}
	if p.seq != o.seq {
		return p.seq < o.seq
	}
	return p.line < o.line
}

func (p place) compare(o place) int {
	switch {
	case p.before(o):
		return -1
	case o.before(p):
		return 1
	}
	return 0
}

func newRow() *row { return &row{example: sight{took: noTime}, next: -1} }

// add counts one line.
func (r *row) add(rec *record, at place) {
	r.count++
	class := rec.status / 100
	if uint(class) > 5 {
		class = 0
	}
	r.status[class]++
	if rec.took >= 0 {
		r.times.Add(time.Duration(rec.took))
	}
	if rec.size > 0 {
		r.bytes += rec.size
		r.maxBytes = max(r.maxBytes, rec.size)
	}
	if rec.upstream >= 0 {
		r.upstream += rec.upstream
		r.upstreams++
	}
	if rec.reqSize > 0 {
		r.reqBytes += rec.reqSize
		r.maxReq = max(r.maxReq, rec.reqSize)
	}
	if rec.took >= r.example.took {
		r.example.offer(rec, at)
	}
}

// addSize adds the size of one line to the sums for learning.
func (r *row) addSize(size int64) {
	if size > 0 {
		log := log2(size)
		r.sized++
		r.logSize += log
		r.logSizeSq += log * log
	}
}

// logSizeBits is the number of binary places of log2.
const logSizeBits = 4

// log2 is the base 2 logarithm of a positive number in units of 1/16, within
// 0.09: the exponent of the number as a float and the first bits behind its
// point.
func log2(n int64) int64 {
	return int64(math.Float64bits(float64(n))>>(52-logSizeBits)) - 1023<<logSizeBits
}

// second counts one line in its second.
func (r *row) second(rec *record) {
	if rec.at == noTime {
		return
	}
	if r.seconds == nil {
		r.seconds = new(tally.Seconds)
	}
	r.seconds.Add(rec.at)
}

// tick counts one line over the time of its request, which had ended when the
// line at an offset of the log was written. Without that time, the request ended
// in the second of the line's timestamp.
func (r *row) tick(rec *record, w *tally.Window, offset int64) {
	var from, to int64
	if w.Written != nil {
		from, to = w.Written(offset)
	}
	if rec.at != noTime {
		from, to = endOf(rec.at, from, to)
	}
	if from == 0 || to == 0 {
		return
	}
	if r.ticks == nil {
		r.ticks = new(tally.Ticks)
	}
	r.ticks.Add(w, from-max(rec.took, 0), to)
}

// endOf narrows the second of a timestamp, or the moment of one with a fraction,
// by the times between which the line was written.
func endOf(stamp, from, to int64) (int64, int64) {
	end := stamp
	if stamp%1e9 == 0 {
		end += 1e9
	}
	if from == 0 || from > end || to != 0 && to < stamp { // the clocks differ: the stamp alone counts
		from = stamp
	}
	if to == 0 || to < from || to > end {
		to = end
	}
	return max(from, stamp), to
}

// maxExample is the longest example kept, in bytes.
const maxExample = 300

// offer replaces the example by a line that is at least as slow; of equally
// slow lines the earliest stays.
func (s *sight) offer(rec *record, at place) {
	if rec.took == s.took && !at.before(s.place) {
		return
	}
	s.took, s.place = rec.took, at
	if rec.uri == nil {
		s.text = s.text[:0]
		return
	}
	s.text = append(append(s.text[:0], rec.methodText()...), ' ')
	s.text = append(s.text, rec.uri[:min(len(rec.uri), maxExample)]...)
}

// merge adds another row.
func (r *row) merge(o *row) {
	r.count += o.count
	r.times.Merge(&o.times)
	for i, n := range o.status {
		r.status[i] += n
	}
	r.bytes += o.bytes
	r.maxBytes = max(r.maxBytes, o.maxBytes)
	r.sized += o.sized
	r.logSize += o.logSize
	r.logSizeSq += o.logSizeSq
	r.from = r.from.plus(o.from)
	r.upstream += o.upstream
	r.upstreams += o.upstreams
	r.reqBytes += o.reqBytes
	r.maxReq = max(r.maxReq, o.maxReq)
	if o.seconds != nil {
		if r.seconds == nil {
			r.seconds = new(tally.Seconds)
		}
		r.seconds.Merge(o.seconds)
	}
	if o.ticks != nil {
		if r.ticks == nil {
			r.ticks = new(tally.Ticks)
		}
		r.ticks.Merge(o.ticks)
	}
	if o.example.took > r.example.took || o.example.took == r.example.took && o.example.place.before(r.example.place) {
		r.example = o.example
	}
}

// dead reports whether every response was 4xx: the route does not exist.
func (r *row) dead() bool { return r.status[4] == r.count }

// fill sets a Profile's row; line resolves places.
func (r *row) fill(out *iikanji.Row, w *tally.Window, line func(place) (string, int64)) {
	out.Count = r.count
	out.Errors = r.status[5]
	r.times.Fill(out)
	out.Web = &iikanji.WebRow{Status: r.status, Bytes: iikanji.Bytes(r.bytes), MaxBytes: iikanji.Bytes(r.maxBytes),
		Upstream: time.Duration(r.upstream), Upstreams: r.upstreams,
		ReqBytes: iikanji.Bytes(r.reqBytes), MaxReqBytes: iikanji.Bytes(r.maxReq)}
	if r.seconds != nil {
		out.PerSecond = r.seconds.Counts()
	}
	if r.ticks != nil {
		out.Ticks = r.ticks.Counts(w)
	}
	if r.example.took != noTime {
		out.Example.Text = string(r.example.text)
		out.Example.File, out.Example.Line = line(r.example.place)
		out.Example.Took = time.Duration(max(r.example.took, 0))
	}
}
