package slowlog

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

const (
	// maxRuns is how many digests a thread can repeat at a time: a loop of up
	// to that many statements, one after the other, is seen.
	maxRuns = 4
	// minRun is the shortest series that counts as a loop.
	minRun = 5
	// runGap ends a series: two statements of one request are not that far
	// apart. Logs of MariaDB know whole seconds only.
	runGap = 2e9
	// maxRecent is how many different values of a series are remembered to see
	// that one comes again.
	maxRecent = 4
)

// A run is a series of one digest on one thread, with at most maxRuns-1 other
// statements between two of its executions.
type run struct {
	d        *digest
	last     int64 // step of the last execution
	at       int64
	count    int64
	time     int64 // of all but the first
	same     int64
	sameTime int64
	recent   [maxRecent]uint64
}

// repeatSum is what all runs of a digest come to.
type repeatSum struct {
	runs, longest, count, time int64
	same, sameTime             int64
}

// repeats follows one execution of d.
func (th *thread) repeats(ev *event, d *digest) {
	th.step++
	if ev.kind >= kindBegin && ev.kind <= kindAutocommitOn || d.id == 0 {
		return
	}
	oldest := &th.runs[0]
	for i := range th.runs {
		r := &th.runs[i]
		if r.d == d {
			if th.step-r.last <= maxRuns && ev.at-r.at < runGap {
				r.again(ev, th.step)
				return
			}
			oldest = r
			break
		}
		if r.last < oldest.last {
			oldest = r
		}
	}
	oldest.end()
	*oldest = run{d: d, last: th.step, at: ev.at, count: 1}
	oldest.recent[0] = ev.values
}

// again counts one more execution.
func (r *run) again(ev *event, step int64) {
	r.last, r.at = step, ev.at
	r.time += ev.query
	for _, v := range r.recent[:min(r.count, maxRecent)] {
		if v == ev.values {
			r.same++
			r.sameTime += ev.query
			r.count++
			return
		}
	}
	copy(r.recent[1:], r.recent[:maxRecent-1])
	r.recent[0] = ev.values
	r.count++
}

// end adds the run to its digest.
func (r *run) end() {
	if r.d == nil {
		return
	}
	s := &r.d.repeat
	s.same += r.same
	s.sameTime += r.sameTime
	if r.count >= minRun {
		s.runs++
		s.count += r.count - 1
		s.time += r.time
		s.longest = max(s.longest, r.count)
	}
	*r = run{}
}

// repeats lists the digests that were repeated, the most expensive first.
func (f *fold) repeats() []iikanji.Repeat {
	var out []iikanji.Repeat
	for _, d := range f.order {
		s := &d.repeat
		if s.runs == 0 && s.same == 0 {
			continue
		}
		out = append(out, iikanji.Repeat{Digest: fmt.Sprintf("%016x", d.key), Key: d.text, Runs: s.runs, Longest: s.longest, Count: s.count,
			Time: time.Duration(s.time), Same: s.same, SameTime: time.Duration(s.sameTime)})
	}
	slices.SortFunc(out, func(a, b iikanji.Repeat) int {
		return cmp.Or(cmp.Compare(max(b.Time, b.SameTime), max(a.Time, a.SameTime)), cmp.Compare(b.Count+b.Same, a.Count+a.Same), cmp.Compare(a.Digest, b.Digest))
	})
	return out
}
