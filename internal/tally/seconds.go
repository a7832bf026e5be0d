package tally

import "github.com/iikanji/iikanji"

// maxSeconds bounds how long a time Seconds follows, from its first count on:
// a load phase is minutes, and a log of days has no use for them.
const maxSeconds = 6 * 3600

// Seconds counts what happened in each second. The zero value is ready. It
// follows up to six hours; a log that is longer has no counts.
type Seconds struct {
	from   int64 // Unix second of counts[0]
	counts []int32
	over   bool // too long: nothing is kept
}

// Add counts one that happened at a time, in nanoseconds of Unix time.
func (s *Seconds) Add(at int64) {
	if i := at/1e9 - s.from; len(s.counts) > 0 && i >= 0 && i < int64(len(s.counts)) {
		s.counts[i]++
		return
	}
	s.put(at/1e9, 1)
}

// put counts n in a second, making room for it.
func (s *Seconds) put(second int64, n int32) {
	if s.over {
		return
	}
	if len(s.counts) == 0 {
		s.from = second
	}
	first, last := min(second, s.from), max(second, s.from+int64(len(s.counts))-1)
	if last-first >= maxSeconds {
		*s = Seconds{over: true}
		return
	}
	if gap := s.from - first; gap > 0 {
		s.counts = append(make([]int32, gap, gap+int64(len(s.counts))), s.counts...)
		s.from = first
	}
	for int64(len(s.counts)) <= last-s.from {
		s.counts = append(s.counts, 0)
	}
	s.counts[second-s.from] += n
}

// Merge adds another one, which stays as it is.
func (s *Seconds) Merge(o *Seconds) {
	if o.over {
		*s = Seconds{over: true}
	}
	for i, n := range o.counts {
		if n > 0 {
			s.put(o.from+int64(i), n)
		}
	}
}

// secondsOf reads counts again; a row without any cannot add to others.
func secondsOf(p *iikanji.PerSecond) *Seconds {
	if p == nil {
		return &Seconds{over: true}
	}
	return &Seconds{from: p.From, counts: p.Counts}
}

// Counts is what was counted; nil when there is nothing or too much.
func (s *Seconds) Counts() *iikanji.PerSecond {
	if len(s.counts) == 0 {
		return nil
	}
	return &iikanji.PerSecond{From: s.from, Counts: s.counts}
}
