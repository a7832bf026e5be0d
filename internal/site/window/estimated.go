package window

import (
	"math"
	"time"

	"github.com/iikanji/iikanji"
)

// readEvery is the time between two readings of the process list that a profile was
// estimated from; 0 for a profile of a log or of counters.
func readEvery(p *iikanji.Profile) time.Duration {
	if p.Intake.Format != iikanji.ProcessList || p.Intake.Lines == 0 {
		return 0
	}
	return p.Last.Sub(p.First) / time.Duration(p.Intake.Lines)
}

// readEvery is the time between the readings of each side for a digest. A side without the
// digest has the longest of its databases.
func (c *comparer) readEvery(digest string) (every [2]time.Duration) {
	for i, s := range c.sides {
		var known bool
		if every[i], known = s.every[digest]; !known {
			every[i] = s.longest
		}
	}
	return every
}

// estimated compares the time of a statement per request where the process list told it
// on a side. A reading sees a statement as often as its time is long, so the sightings are
// the events: total time / time between readings. Executions are not compared, because
// their estimate hangs on the few elapsed times that were seen.
func (c *comparer) estimated(where string, rows [2]iikanji.Row, per [2]float64, every [2]time.Duration) {
	var events [2]float64
	v := 0.0
	for i, r := range rows {
		if r.Count == 0 {
			continue
		}
		n, together := eventsOf(r, every[i])
		events[i] = n
		v += together/n + 1/float64(c.sides[i].requests)
	}
	count := int64(events[0] + events[1])
	if events[0] > 0 && events[1] > 0 {
		c.ratio(StatementTime, where, per[0], per[1], v, count, 1)
		return
	}
	if count < leastEvents {
		return
	}
	there, gone := 0, 1
	if events[0] == 0 {
		there, gone = 1, 0
	}
	// With the same time per request, so many groups of events would have been in the
	// other window. None of them comes with the probability exp(-groups).
	of := every[gone]
	if of == 0 {
		of = rows[there].Mean
	}
	_, together := eventsOf(rows[there], of)
	groups := per[there] * float64(c.sides[gone].requests) / (of.Seconds() * together)
	c.out = append(c.out, Change{Quantity: StatementTime, Where: where, Before: per[0], After: per[1], Sure: math.Exp(-groups) < 1-confidence,
		Method: "poisson", Count: count, weight: math.Abs(per[1] - per[0])})
}

// eventsOf are the events that a row's time was taken from, executions or (with a time
// between readings) sightings, and how many of them come together: a statement that is
// longer than this time is seen several times.
func eventsOf(r iikanji.Row, every time.Duration) (n, together float64) {
	if every == 0 {
		return float64(r.Count), 1 + meanVariance(r)*float64(r.Count)
	}
	return float64(r.Total) / float64(every), max(1, float64(r.Mean)/float64(every))
}
