package tally

import "github.com/iikanji/iikanji"

// maxSeconds bounds the time span of Seconds. A load phase lasts minutes;
// per-second counts of a log of days are not needed.
const maxSeconds = 6 * 3600

// Seconds counts events by second. The zero value is ready. A span of more than
// six hours has no counts.
type Seconds struct {
	from   int64 // Unix second of counts[0]
	counts []int32
	over   bool // the span is too long: no counts are kept
}

// Add counts one event at a time in nanoseconds since 1970.
func (s *Seconds) Add(at int64) {
	if i := at/1e9 - s.from; len(s.counts) > 0 && i >= 0 && i < int64(len(s.counts)) {
		s.counts[i]++
		return
	}
	s.put(at/1e9, 1)
}

// put counts n events in a second and extends the range.
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

// Merge adds o, which stays unchanged.
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

// secondsOf returns saved counts; a row without counts makes the sum invalid.
func secondsOf(p *iikanji.PerSecond) *Seconds {
	if p == nil {
		return &Seconds{over: true}
	}
	return &Seconds{from: p.From, counts: p.Counts}
}

// Counts returns the counts; nil if there are none or the span is too long.
func (s *Seconds) Counts() *iikanji.PerSecond {
	if len(s.counts) == 0 {
		return nil
	}
	return &iikanji.PerSecond{From: s.from, Counts: s.counts}
}
