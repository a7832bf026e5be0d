package slowlog

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

const (
	// maxRuns is the number of digests that are followed per thread: the longest
	// loop of different statements that is recognised.
	maxRuns = 4
	// minRun is the shortest series that counts as a loop.
	minRun = 5
	// runGap ends a series, in ns: statements of one request are closer together.
	// Times in logs of MariaDB are whole seconds.
	runGap = 2e9
	// maxRecent is how many recent values of a series are compared with the next.
	maxRecent = 4
)

// A run is a series of one digest on one thread, with at most maxRuns-1 other
// statements between two of its executions.
type run struct {
	d        *digest
	last     int64 // step of the last execution
	at       int64
	count    int64
	time     int64 // of all executions but the first
	same     int64
	sameTime int64
	recent   [maxRecent]uint64
}

// repeatSum is the sum over all runs of a digest.
type repeatSum struct {
	runs, longest, count, time int64
	same, sameTime             int64
}

// repeats adds one execution of d to the thread's runs.
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

// repeats returns the repeated digests, the most expensive first.
func (c *collector) repeats() []iikanji.Repeat {
	var out []iikanji.Repeat
	for _, d := range c.order {
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
