package isucondition

import (
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// trendLag is how long after an owner has seen a condition the trend may still show
// an older one (in real time, until the request for the trend is sent). A cache of a
// second is within it; a trend that is computed once and kept is not.
const trendLag = 3 * time.Second

// sightings are the newest timestamps of one ISU that its owner was shown, and when.
type sightings struct {
	mu  sync.Mutex
	all []sighting // rising
}

type sighting struct {
	at time.Time
	ts int64
}

// saw records the newest condition in an answer that has arrived.
func (s *sightings) saw(ts int64, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.all); n == 0 || ts > s.all[n-1].ts {
		s.all = append(s.all, sighting{now, ts})
	}
}

// until returns the newest timestamp that was seen until a time, 0 for none.
func (s *sightings) until(t time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.all) - 1; i >= 0; i-- {
		if !s.all[i].at.After(t) {
			return s.all[i].ts
		}
	}
	return 0
}

// checkFresh checks the last answer against what owners were shown: an ISU that an
// owner saw with a condition trendLag before the request was sent is listed with
// that condition or a newer one.
func (w *trendWatch) checkFresh(res *scenario.Response, ids map[int64]*chair, sent time.Time) error {
	for id, c := range ids {
		want := c.seen.until(sent.Add(-trendLag))
		if want == 0 {
			continue
		}
		switch got, ok := w.last[id]; {
		case !ok || got.turn != w.turn:
			return scenario.Wrong(res, "trend-missing", "isu_id %d is missing; its owner saw its condition of %d more than %s before", id, want, trendLag)
		case got.ts < want:
			return scenario.Wrong(res, "trend-stale", "isu_id %d is at %d; its owner saw its condition of %d more than %s before", id, got.ts, want, trendLag)
		}
	}
	return nil
}
