package bench

import (
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// Seconds are the answers of a load by second. Run fills them in; see
// Options.Seconds. They cost no file during the load, unlike samples.
type Seconds struct {
	From time.Time // when the load began
	All  []Second
}

// A Second has the answers that ended in one second. Answers from the browser's
// cache and exchanges that the end of the load cut off are left out. Times are those
// from the start of sending to the end of the answer, within 0.8 %.
type Second struct {
	Answers, Errors int64
	P50, P95, P99   time.Duration
}

// maxSeconds bounds the seconds that are counted: three hours.
const maxSeconds = 3 * 3600

// A secondTally counts one second in one shard.
type secondTally struct {
	answers, errors int64
	took            tally.Sketch
}

// secondTallies are the seconds of one shard, under the shard's lock.
type secondTallies struct {
	began int64 // clock time of the load
	all   []*secondTally
}

func (t *secondTallies) at(second int) *secondTally {
	for len(t.all) <= second {
		t.all = append(t.all, &secondTally{})
	}
	return t.all[second]
}

// add counts an exchange of the load.
func (t *secondTallies) add(x *exchange) {
	second := (x.end - t.began) / int64(time.Second)
	if x.cached || x.fault == iikanji.FaultCut || second < 0 || second >= maxSeconds {
		return
	}
	s := t.at(int(second))
	s.answers++
	if x.fault != iikanji.FaultUnknown && !x.quiet {
		s.errors++
	}
	s.took.Add(time.Duration(x.end - x.start))
}

// beginSeconds counts by second from now on, if Options.Seconds is set.
func (s *session) beginSeconds() {
	if s.o.Seconds == nil {
		return
	}
	now := s.clock.now()
	s.o.Seconds.From = s.clock.base.Add(time.Duration(now))
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sh.seconds = &secondTallies{began: now}
		sh.mu.Unlock()
	}
}

// endSeconds fills in Options.Seconds.
func (s *session) endSeconds() {
	if s.o.Seconds == nil {
		return
	}
	sum := &secondTallies{}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for n, t := range sh.seconds.all {
			to := sum.at(n)
			to.answers, to.errors = to.answers+t.answers, to.errors+t.errors
			to.took.Merge(&t.took)
		}
		sh.seconds = nil
		sh.mu.Unlock()
	}
	for _, t := range sum.all {
		s.o.Seconds.All = append(s.o.Seconds.All, Second{t.answers, t.errors, t.took.Quantile(0.5), t.took.Quantile(0.95), t.took.Quantile(0.99)})
	}
}
