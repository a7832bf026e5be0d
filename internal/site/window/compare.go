package window

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// Version is the version of the JSON form of a [Window]; readers refuse a larger
// one.
const Version = 1

// A Window is what a comparison needs of an observation beyond its profiles.
type Window struct {
	Version int           `json:"version"`
	Site    string        `json:"site"`
	Began   time.Time     `json:"began"`
	Took    time.Duration `json:"took_ns"`
	// CPU are the cores that each service used, one value per sample; Seconds are
	// the Unix seconds of the samples.
	CPU     map[string][]float64 `json:"cpu"`
	Seconds []int64              `json:"seconds"`

	Access []iikanji.Profile `json:"-"`
	Slow   []iikanji.Profile `json:"-"`
}

// A Quantity is what a line of a comparison is about.
type Quantity string

const (
	RouteShare     Quantity = "requests"       // share of a route in all requests
	RouteTime      Quantity = "request time"   // mean time of a route
	RouteErrors    Quantity = "errors"         // share of 4xx and 5xx answers of a route
	StatementRate  Quantity = "executions"     // of a statement per request
	StatementTime  Quantity = "statement time" // of a statement per request
	ServiceSeconds Quantity = "cpu"            // CPU time of a service per request
)

// A Change is one quantity per request in two windows.
type Change struct {
	Quantity Quantity `json:"quantity"`
	Where    string   `json:"where"`
	Before   float64  `json:"before"` // seconds, executions or shares
	After    float64  `json:"after"`
	// Ratio is After by Before; 0 if one of them is 0. Lo and Hi are the bounds of
	// its interval at the confidence of the Comparison.
	Ratio float64 `json:"ratio"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	// Sure: the interval excludes 1, or the quantity is new or gone and too frequent
	// in the other window for chance.
	Sure   bool   `json:"sure"`
	Method string `json:"method"` // bootstrap or poisson
	Count  int64  `json:"count"`  // events in both windows

	weight float64 // seconds per request that changed, for the order
}

// A Comparison is the difference of two windows per request.
type Comparison struct {
	Confidence float64  `json:"confidence"` // of each interval
	Requests   [2]int64 `json:"requests"`
	Changes    []Change `json:"changes"`  // sure ones first, the heaviest first
	Compared   int      `json:"compared"` // quantities
}

const (
	// confidence of one interval. Many quantities are compared at once, and one in a
	// hundred unchanged ones is taken for changed.
	confidence = 0.99
	resamples  = 1000
	// blockSeconds is the length of the blocks that are drawn: neighbouring seconds
	// resemble each other.
	blockSeconds = 5
	// leastBlocks is the number of blocks from which the bootstrap is used.
	leastBlocks = 12
	// leastEvents is the number of events in both windows below which a quantity is
	// left out.
	leastEvents = 5
)

// Compare compares two windows.
func Compare(before, after *Window) (*Comparison, error) {
	c := &comparer{sides: [2]*side{newSide(before), newSide(after)}, z: stats.NormalQuantile(1 - (1-confidence)/2)}
	for i, s := range c.sides {
		if s.requests == 0 {
			return nil, fmt.Errorf("window %d has no requests: nothing can be compared per request", i+1)
		}
	}
	c.routes()
	c.statements()
	c.cpu()
	slices.SortStableFunc(c.out, func(a, b Change) int {
		if a.Sure != b.Sure {
			return map[bool]int{true: -1, false: 1}[a.Sure]
		}
		return cmp.Compare(b.weight, a.weight)
	})
	return &Comparison{Confidence: confidence, Requests: [2]int64{c.sides[0].requests, c.sides[1].requests}, Changes: c.out, Compared: len(c.out)}, nil
}

// A side is one window with its requests per block.
type side struct {
	*Window
	requests int64
	bySecond map[int64]float64
	first    int64
	blocks   int
	routes   map[string]iikanji.Row
	queries  map[string]iikanji.Row   // by digest
	every    map[string]time.Duration // by digest: between the readings that a row was estimated from
	longest  time.Duration            // of every, also of profiles without a row
}

func newSide(w *Window) *side {
	s := &side{Window: w, bySecond: map[int64]float64{}, routes: map[string]iikanji.Row{}, queries: map[string]iikanji.Row{}, every: map[string]time.Duration{}}
	for _, p := range w.Access {
		for _, r := range p.Rows {
			s.requests += r.Count
			s.routes[r.Key] = r
			if r.PerSecond == nil {
				continue
			}
			for i, n := range r.PerSecond.Counts {
				s.bySecond[r.PerSecond.From+int64(i)] += float64(n)
			}
		}
	}
	for _, p := range w.Slow {
		s.longest = max(s.longest, readEvery(&p))
		for _, r := range p.Rows {
			if r.Query != nil {
				s.queries[r.Query.Digest], s.every[r.Query.Digest] = r, readEvery(&p)
			}
		}
	}
	s.first = w.Began.Unix()
	s.blocks = int(w.Took.Seconds()) / blockSeconds
	return s
}

// inBlocks sums values by second into blocks.
func (s *side) inBlocks(values map[int64]float64) []float64 {
	out := make([]float64, s.blocks)
	for second, v := range values {
		if b := int(second-s.first) / blockSeconds; second >= s.first && b < s.blocks {
			out[b] += v
		}
	}
	return out
}

func seconds(p *iikanji.PerSecond) map[int64]float64 {
	if p == nil {
		return nil
	}
	out := map[int64]float64{}
	for i, n := range p.Counts {
		out[p.From+int64(i)] = float64(n)
	}
	return out
}

// A comparer collects the changes.
type comparer struct {
	sides [2]*side
	z     float64
	out   []Change
}

// keys are the keys of both sides, sorted.
func keys(of func(*side) map[string]iikanji.Row, sides [2]*side) []string {
	all := map[string]bool{}
	for _, s := range sides {
		for k := range of(s) {
			all[k] = true
		}
	}
	var out []string
	for k := range all {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func (c *comparer) routes() {
	for _, key := range keys(func(s *side) map[string]iikanji.Row { return s.routes }, c.sides) {
		var rows [2]iikanji.Row
		for i, s := range c.sides {
			rows[i] = s.routes[key]
		}
		c.perRequest(RouteShare, key, rows)
		if rows[0].Count > 0 && rows[1].Count > 0 && rows[0].Mean > 0 && rows[1].Mean > 0 {
			v := meanVariance(rows[0]) + meanVariance(rows[1])
			share := float64(rows[1].Count) / float64(c.sides[1].requests)
			c.ratio(RouteTime, key, rows[0].Mean.Seconds(), rows[1].Mean.Seconds(), v, rows[0].Count+rows[1].Count, share)
		}
		var failed [2]iikanji.Row
		for i, r := range rows {
			if failed[i].Count = r.Errors; r.Web != nil {
				failed[i].Count = r.Web.Status[4] + r.Web.Status[5]
			}
		}
		c.rate(RouteErrors, key, failed, [2]float64{float64(rows[0].Count), float64(rows[1].Count)})
	}
}

func (c *comparer) statements() {
	for _, digest := range keys(func(s *side) map[string]iikanji.Row { return s.queries }, c.sides) {
		var rows [2]iikanji.Row
		where := ""
		for i, s := range c.sides {
			rows[i] = s.queries[digest]
			if rows[i].Key != "" {
				where = rows[i].Key
			}
		}
		var per [2]float64
		for i, s := range c.sides {
			per[i] = rows[i].Total.Seconds() / float64(s.requests)
		}
		if every := c.readEvery(digest); every != [2]time.Duration{} {
			c.estimated(where, rows, per, every)
			continue
		}
		c.perRequest(StatementRate, where, rows)
		if rows[0].Count == 0 || rows[1].Count == 0 {
			continue
		}
		v := 0.0
		for i, s := range c.sides {
			v += meanVariance(rows[i]) + dispersion(rows[i].PerSecond)/float64(rows[i].Count) + 1/float64(s.requests)
		}
		c.ratio(StatementTime, where, per[0], per[1], v, rows[0].Count+rows[1].Count, 1)
	}
}

// meanVariance is the variance of the logarithm of a mean. A row without a spread
// is taken to be exponential.
func meanVariance(r iikanji.Row) float64 {
	if r.Count == 0 || r.Mean == 0 {
		return 0
	}
	rel := 1.0
	if r.Stddev > 0 {
		rel = r.Stddev.Seconds() / r.Mean.Seconds()
	}
	return rel * rel / float64(r.Count)
}

// dispersion is the variance of the counts per second by their mean, 1 or more: events
// that come in groups are less certain than independent ones.
func dispersion(p *iikanji.PerSecond) float64 {
	if p == nil || len(p.Counts) < 2 {
		return 1
	}
	var values []float64
	for _, n := range p.Counts {
		values = append(values, float64(n))
	}
	mean := stats.Mean(values)
	if mean == 0 {
		return 1
	}
	sd := stats.SD(values)
	return max(1, sd*sd/mean)
}

// perRequest compares the counts of a row per request.
func (c *comparer) perRequest(q Quantity, where string, rows [2]iikanji.Row) {
	var blocks [2][][2]float64
	for i, s := range c.sides {
		values := seconds(rows[i].PerSecond)
		if values == nil || s.blocks < leastBlocks {
			c.rate(q, where, rows, [2]float64{float64(c.sides[0].requests), float64(c.sides[1].requests)})
			return
		}
		x, r := s.inBlocks(values), s.inBlocks(s.bySecond)
		for b := range x {
			blocks[i] = append(blocks[i], [2]float64{x[b], r[b]})
		}
	}
	c.bootstrap(q, where, blocks, rows[0].Count+rows[1].Count)
}

// rate compares two counts of events that are independent, by their exposures.
func (c *comparer) rate(q Quantity, where string, rows [2]iikanji.Row, exposure [2]float64) {
	n := [2]int64{rows[0].Count, rows[1].Count}
	if n[0]+n[1] < leastEvents || exposure[0] == 0 || exposure[1] == 0 {
		return
	}
	before, after := float64(n[0])/exposure[0], float64(n[1])/exposure[1]
	if n[0] == 0 || n[1] == 0 {
		// With the same rate, the share of events in one window is its exposure's.
		p := exposure[0] / (exposure[0] + exposure[1])
		if n[0] == 0 {
			p = 1 - p
		}
		chance := math.Pow(p, float64(n[0]+n[1]))
		c.out = append(c.out, Change{Quantity: q, Where: where, Before: before, After: after, Sure: chance < 1-confidence, Method: "poisson", Count: n[0] + n[1], weight: math.Abs(after - before)})
		return
	}
	v := dispersion(rows[0].PerSecond)/float64(n[0]) + dispersion(rows[1].PerSecond)/float64(n[1])
	c.ratio(q, where, before, after, v, n[0]+n[1], 1)
}

// ratio adds a change whose logarithm has a variance.
func (c *comparer) ratio(q Quantity, where string, before, after, variance float64, count int64, weight float64) {
	if before <= 0 || after <= 0 || count < leastEvents {
		return
	}
	r, half := after/before, c.z*math.Sqrt(variance)
	x := Change{Quantity: q, Where: where, Before: before, After: after, Ratio: r, Lo: r * math.Exp(-half), Hi: r * math.Exp(half), Method: "poisson", Count: count}
	x.Sure, x.weight = x.Lo > 1 || x.Hi < 1, math.Abs(after-before)*weight
	c.out = append(c.out, x)
}

// bootstrap compares ratios of sums by drawing blocks of seconds.
func (c *comparer) bootstrap(q Quantity, where string, blocks [2][][2]float64, count int64) {
	if count >= 0 && count < leastEvents {
		return
	}
	of := func(b [][2]float64) float64 {
		x, r := 0.0, 0.0
		for _, v := range b {
			x, r = x+v[0], r+v[1]
		}
		if r == 0 {
			return 0
		}
		return x / r
	}
	before, after := of(blocks[0]), of(blocks[1])
	x := Change{Quantity: q, Where: where, Before: before, After: after, Method: "bootstrap", Count: max(0, count), weight: math.Abs(after - before)}
	if before <= 0 || after <= 0 {
		return
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(where)))) // the same windows give the same interval
	var ratios []float64
	for range resamples {
		var drawn [2]float64
		for i, b := range blocks {
			sample := make([][2]float64, len(b))
			for j := range sample {
				sample[j] = b[rng.IntN(len(b))]
			}
			drawn[i] = of(sample)
		}
		if drawn[0] > 0 {
			ratios = append(ratios, drawn[1]/drawn[0])
		}
	}
	if len(ratios) < resamples/2 {
		return
	}
	slices.Sort(ratios)
	tail := (1 - confidence) / 2
	x.Ratio = after / before
	x.Lo, x.Hi = ratios[int(tail*float64(len(ratios)))], ratios[min(len(ratios)-1, int((1-tail)*float64(len(ratios))))]
	x.Sure = x.Lo > 1 || x.Hi < 1
	c.out = append(c.out, x)
}

// cpu compares the CPU time of each service per request.
func (c *comparer) cpu() {
	var names []string
	for name := range c.sides[0].CPU {
		if _, both := c.sides[1].CPU[name]; both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		var blocks [2][][2]float64
		for i, s := range c.sides {
			values := map[int64]float64{}
			for j, v := range s.CPU[name] {
				if j < len(s.Seconds) {
					values[s.Seconds[j]] += v
				}
			}
			x, r := s.inBlocks(values), s.inBlocks(s.bySecond)
			for b := range x {
				blocks[i] = append(blocks[i], [2]float64{x[b], r[b]})
			}
		}
		if len(blocks[0]) < leastBlocks || len(blocks[1]) < leastBlocks {
			continue
		}
		c.bootstrap(ServiceSeconds, name, blocks, -1)
	}
}
