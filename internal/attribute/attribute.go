package attribute

import (
	"cmp"
	"math"
	"slices"
)

// A Series is one route or one digest: its events by tick.
type Series struct {
	Counts []float64
	// Timed reports, of a route, that each request is spread over its time.
	// Otherwise each request is at its end.
	Timed bool
}

// A Sender is a route that sends a digest.
type Sender struct {
	Route   int     // index of the route
	Each    float64 // executions per request
	Err     float64 // standard error of Each
	Share   float64 // of the executions
	Certain bool    // no other route explains these executions nearly as well
	Rival   int     // the best other route, -1 for none
	Margin  float64 // how much worse the fit is with the rival: an F value
}

// A Result is the attribution of one digest.
type Result struct {
	Senders []Sender // the one with the largest share first
	R2      float64  // explained share of the variance of the digest
	Ticks   float64  // number of independent ticks
}

// Thresholds of the tests. F values are of one degree of freedom; with about a
// hundred columns to choose from, chance reaches 10 in one of eight digests and
// 16 in one of a hundred.
const (
	enterF        = 16.0
	stayF         = 10.0
	certainF      = 10.0
	maxSenders    = 8
	leastSpread   = 4.0  // ticks with load that a route and a digest must have: any few bursts lie on a line
	leastRequests = 1.9  // of a route; parts of them may be outside of the load
	whitened      = 0.05 // autocorrelation that counts as none
	smoothTicks   = 10   // on each side, of the load that ticks are weighted by
)

// Find attributes each digest. All series have the same ticks; those of routes
// may have more at the end, for requests that outlast the last tick.
func Find(routes, digests []Series) []Result {
	out := make([]Result, len(digests))
	if len(digests) == 0 || len(digests[0].Counts) < 2 {
		return out
	}
	d := newDesign(routes, weights(digests))
	for i, y := range digests {
		out[i] = d.attribute(y.Counts)
	}
	return out
}

// weights are the square roots of the ticks' weights.
func weights(digests []Series) []float64 {
	n := len(digests[0].Counts)
	sums := make([]float64, n+1) // of the ticks before
	for t := range n {
		sums[t+1] = sums[t]
		for _, d := range digests {
			sums[t+1] += d.Counts[t]
		}
	}
	mean := sums[n] / float64(n)
	out := make([]float64, n)
	for t := range out {
		from, to := max(t-smoothTicks, 0), min(t+smoothTicks+1, n)
		around := (sums[to] - sums[from]) / float64(to-from)
		out[t] = 1 / math.Sqrt(around+mean/4+1e-9)
	}
	return out
}

// A column is a candidate of the fit: a route with an assumed time of its
// requests.
type column struct {
	route int
	x     []float64 // weighted
	sum   float64   // not weighted
}

// A design holds the columns of all routes.
type design struct {
	w       []float64
	columns []column
	gram    [][]float64 // inner products of the columns
}

func newDesign(routes []Series, w []float64) *design {
	d := &design{w: w}
	for r, s := range routes {
		lengths := []float64{0}
		if !s.Timed {
			lengths = assumedTimes(len(w))
		}
		for _, length := range lengths {
			x := running(s.Counts, length)
			c := column{route: r, x: make([]float64, len(w))}
			for t := range w {
				c.sum += x[t]
				c.x[t] = x[t] * w[t]
			}
			if c.sum >= leastRequests && spread(x) >= leastSpread {
				d.columns = append(d.columns, c)
			}
		}
	}
	d.gram = make([][]float64, len(d.columns))
	for i := range d.columns {
		d.gram[i] = make([]float64, len(d.columns))
		for j := range i + 1 {
			d.gram[i][j] = dot(d.columns[i].x, d.columns[j].x)
			d.gram[j][i] = d.gram[i][j]
		}
	}
	return d
}

// spread is the effective number of ticks: all of them if the counts are equal,
// one if a single tick has nearly all.
func spread(y []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, c := range y {
		sum, squares = sum+c, squares+c*c
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// assumedTimes are the lengths of requests, in ticks, that are tried where the
// log has none.
func assumedTimes(n int) []float64 {
	out := []float64{0, 0.5}
	for l := 1.0; l <= float64(n)/8 && l <= 128; l *= 2 {
		out = append(out, l)
	}
	return out
}

// running spreads requests, which ended in the ticks of counts, evenly over a
// length of ticks before their end. Within its tick, an end is equally likely at
// each moment.
func running(counts []float64, length float64) []float64 {
	n := len(counts)
	if length == 0 {
		return slices.Clone(counts)
	}
	// ended is the integral over the number of requests that ended before a time.
	sums, areas := make([]float64, n+1), make([]float64, n+1)
	for t, c := range counts {
		sums[t+1] = sums[t] + c
		areas[t+1] = areas[t] + sums[t] + c/2
	}
	ended := func(at float64) float64 {
		if at >= float64(n) {
			return areas[n] + sums[n]*(at-float64(n))
		}
		t := int(at)
		part := at - float64(t)
		return areas[t] + sums[t]*part + counts[t]*part*part/2
	}
	out := make([]float64, n)
	for t := range out {
		from := float64(t)
		out[t] = max(0, ended(from+1+length)-ended(from+length)-ended(from+1)+ended(from)) / length
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// attribute finds the senders of one digest.
func (d *design) attribute(counts []float64) Result {
	if spread(counts) < leastSpread {
		return Result{}
	}
	f := d.fitting(counts)
	f.grow()
	if len(f.in) == 0 {
		return Result{}
	}
	out := Result{R2: f.explained(counts), Ticks: f.ticks}
	all := 0.0
	for i, c := range f.in {
		all += f.each[i] * d.columns[c].sum
	}
	for i, c := range f.in {
		s := Sender{Route: d.columns[c].route, Each: f.each[i], Share: f.each[i] * d.columns[c].sum / all}
		s.Err = f.stdErr(i)
		s.Rival, s.Margin = f.rival(i)
		s.Certain = s.Margin >= certainF
		out.Senders = append(out.Senders, s)
	}
	slices.SortStableFunc(out.Senders, func(a, b Sender) int { return cmp.Compare(b.Share, a.Share) })
	return out
}
