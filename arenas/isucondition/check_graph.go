package isucondition

import (
	"net/http"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A graph is a checked answer of GET graph.
type graph struct {
	day    int64
	counts [24]int // conditions per hour
	at     []int32 // indexes in the history, ascending
}

// A graphHour is one item of the answer.
type graphHour struct {
	start, end int64
	hasData    bool
	score      int64
	percent    [4]int64 // broken, overweight, dirty (by bit of Flags), sitting
	fields     uint8
	stamps     int // number of timestamps listed
}

const hourFields = 1<<4 - 1 // start_at, end_at, data, condition_timestamps
const dataFields = 1<<5 - 1 // percentages and score

// readHour reads one item and appends its timestamps to stamps.
func readHour(r *jsonread.Reader, stamps *[]int64) (h graphHour) {
	r.Object(func(name []byte) {
		switch string(name) {
		case "start_at":
			h.start = r.Int()
			h.fields |= 1
		case "end_at":
			h.end = r.Int()
			h.fields |= 2
		case "data":
			h.fields |= 4
			if h.hasData = !r.Null(); h.hasData {
				readHourData(r, &h)
			}
		case "condition_timestamps":
			h.fields |= 8
			r.Array(func() { *stamps = append(*stamps, r.Int()); h.stamps++ })
		default:
			r.Skip()
		}
	})
	return h
}

// readHourData reads the data of an hour.
func readHourData(r *jsonread.Reader, h *graphHour) {
	fields := 0
	r.Object(func(name []byte) {
		switch string(name) {
		case "score":
			h.score = r.Int()
			fields |= 1 << 4
		case "percentage":
			r.Object(func(name []byte) {
				i := -1
				switch string(name) {
				case "is_broken":
					i = 0
				case "is_overweight":
					i = 1
				case "is_dirty":
					i = 2
				case "sitting":
					i = 3
				}
				if i < 0 {
					r.Skip()
					return
				}
				h.percent[i] = r.Int()
				fields |= 1 << i
			})
		default:
			r.Skip()
		}
	})
	if fields != dataFields && r.Err() == nil {
		r.Fail("data of an hour lacks score or percentages")
	}
}

// checkGraph checks the graph of a chair's day. asked is when the request was
// sent, in ms since the clock's origin.
func checkGraph(res *scenario.Response, c *chair, day, asked int64) (*graph, error) {
	r, err := verify.OpenJSON(res, http.StatusOK)
	if err != nil {
		return nil, err
	}
	var hours [24]graphHour
	stamps := make([]int64, 0, 256)
	n := 0
	r.Array(func() {
		if h := readHour(&r, &stamps); n < len(hours) {
			hours[n] = h
		}
		n++
	})
	if err := verify.EndJSON(res, &r); err != nil {
		return nil, err
	}
	if n != len(hours) {
		return nil, scenario.Wrong(res, "graph-length", "%d hours, want 24", n)
	}
	g := &graph{day: day, at: make([]int32, 0, len(stamps))}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for i := range hours {
		h := &hours[i]
		g.counts[i] = h.stamps
		if err := wantHour(res, h, day+int64(i)*hourSeconds); err != nil {
			return nil, err
		}
		if err := g.wantData(res, c, h, stamps[:h.stamps]); err != nil {
			return nil, err
		}
		stamps = stamps[h.stamps:]
	}
	return g, g.wantKept(res, c, asked)
}

// wantHour checks start, end and fields of one hour, and that data is null if and
// only if there are no timestamps.
func wantHour(res *scenario.Response, h *graphHour, start int64) error {
	switch {
	case h.fields != hourFields:
		return scenario.Wrong(res, "graph-fields", "the hour of %d lacks fields", start)
	case h.start != start || h.end != start+hourSeconds:
		return scenario.Wrong(res, "graph-hours", "an hour [%d, %d), want [%d, %d)", h.start, h.end, start, start+hourSeconds)
	case h.hasData != (h.stamps > 0):
		return scenario.Wrong(res, "graph-null", "the hour of %d has data %v and %d timestamps", start, h.hasData, h.stamps)
	}
	return nil
}

// wantData checks the timestamps of one hour and recomputes its numbers.
func (g *graph) wantData(res *scenario.Response, c *chair, h *graphHour, stamps []int64) error {
	var sum, counts = int64(0), [4]int64{}
	for i, ts := range stamps {
		if ts < h.start || ts >= h.end {
			return scenario.Wrong(res, "graph-outside", "timestamp %d in the hour [%d, %d)", ts, h.start, h.end)
		}
		if i > 0 && ts <= stamps[i-1] {
			return scenario.Wrong(res, "graph-order", "timestamp %d after %d, want them ascending", ts, stamps[i-1])
		}
		at, ok := c.past.find(ts)
		if !ok {
			return scenario.Wrong(res, "graph-unknown", "%s never posted a condition with timestamp %d", c.uuid, ts)
		}
		g.at = append(g.at, int32(at))
		s := c.past.states[at]
		for bit := range counts {
			counts[bit] += int64(s >> bit & 1)
		}
		sum += int64(Critical-s.level()) + 1
	}
	if len(stamps) == 0 {
		return nil
	}
	n := int64(len(stamps))
	if want := sum * 100 / 3 / n; h.score != want {
		return scenario.Wrong(res, "graph-score", "score %d in the hour of %d, want %d", h.score, h.start, want)
	}
	for bit, count := range counts {
		if want := count * 100 / n; h.percent[bit] != want {
			return scenario.Wrong(res, "graph-percentage", "%d %% in the hour of %d, want %d (%d of %d conditions)",
				h.percent[bit], h.start, want, count, n)
		}
	}
	return nil
}

// wantKept checks that every condition of the day that was returned before is in
// the graph.
func (g *graph) wantKept(res *scenario.Response, c *chair, asked int64) error {
	next := 0
	for i, end := c.past.from(g.day), c.past.from(g.day+daySeconds); i < end; i++ {
		if next < len(g.at) && int(g.at[next]) == i {
			next++
		} else if c.past.known(i, asked-crossDelay) {
			return c.missing(res, "graph", i)
		}
	}
	return nil
}

// sightGraph records that a graph's conditions were returned at a time, in ms
// since the clock's origin.
func (c *chair) sightGraph(g *graph, ms int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range g.at {
		c.past.sight(int(at), ms)
	}
}
