package tally

import (
	"time"

	"github.com/iikanji/iikanji"
)

// A Window is the part of time that Ticks cover, cut into N ticks of Step.
type Window struct {
	From time.Time
	Step time.Duration
	N    int
	// Written returns when a log's record was written, by its offset in the log:
	// between from and to, in nanoseconds since 1970. A time that is not known is
	// 0. Written may be nil.
	Written func(offset int64) (from, to int64)
}

// tickUnits are the parts of one event.
const tickUnits = 1000

// Ticks counts events by tick. Sums are exact, so their order does not matter.
type Ticks struct{ counts []int64 }

// Add counts one event that ran between two times, in nanoseconds since 1970. Its
// parts outside of the window do not count.
func (t *Ticks) Add(w *Window, from, to int64) {
	first, step := w.From.UnixNano(), int64(w.Step)
	from, to = from-first, max(to, from)-first
	if to < 0 || from >= step*int64(w.N) {
		return
	}
	if t.counts == nil {
		t.counts = make([]int64, w.N)
	}
	if at := from / step; from >= 0 && to < (at+1)*step {
		t.counts[at] += tickUnits
		return
	}
	took := float64(to - from)
	part := func(at int64) int64 { // parts before a tick
		share := float64(at*step-from) / took
		return int64(tickUnits * min(max(share, 0), 1))
	}
	last := min(to/step, int64(w.N)-1)
	for at := max(from, 0) / step; at <= last; at++ {
		t.counts[at] += part(at+1) - part(at)
	}
}

// Merge adds o, of the same window.
func (t *Ticks) Merge(o *Ticks) {
	if t.counts == nil && o.counts != nil {
		t.counts = make([]int64, len(o.counts))
	}
	for i, n := range o.counts {
		t.counts[i] += n
	}
}

// Counts returns the counts; nil without any event.
func (t *Ticks) Counts(w *Window) *iikanji.Ticks {
	n := len(t.counts)
	for n > 0 && t.counts[n-1] == 0 {
		n--
	}
	if n == 0 {
		return nil
	}
	return &iikanji.Ticks{From: w.From, Step: w.Step, Counts: t.counts[:n]}
}
