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
	// Aborted reports, of a route, that clients gave up on many requests. The log
	// has the end of such a request, but the app goes on with its statements.
	Aborted bool
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

// Thresholds of the tests. F values are of one degree of freedom. There are up to
// a thousand columns to choose from, and by chance one of a thousand has an F of 11.
const (
	enterF        = 20.0
	stayF         = 10.0
	certainF      = 20.0
	maxColumns    = 12
	leastSpread   = 4.0 // ticks with load that a route and a digest must have: any few bursts lie on a line
	leastRequests = 1.9 // of a route; parts of them may be outside of the load
	smoothDegree  = 4
	mostWhole     = 4    // executions per request for which a whole number is evidence
	wholeWithin   = 0.06 // largest relative distance from it
	wholeF        = 12.0
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
	norm  float64   // squared
}

// A design holds the columns of all routes.
type design struct {
	w        []float64
	columns  []column
	gram     [][]float64 // inner products with all columns; nil where not needed yet
	requests []float64   // of each route
}

func newDesign(routes []Series, w []float64) *design {
	d := &design{w: w, requests: make([]float64, len(routes)+1)}
	for r, s := range routes {
		for _, c := range s.Counts {
			d.requests[r] += c
		}
		for _, l := range s.assumed(len(w)) {
			d.add(r, running(s.Counts, l.before, l.after))
		}
	}
	d.addSmooth(len(routes))
	d.gram = make([][]float64, len(d.columns))
	return d
}

// addSmooth adds the columns of no route: the Bernstein polynomials of degree
// smoothDegree, whose positive combinations are the smooth curves. All parts of a
// site grow and shrink with its load, so that smooth curves alike are no evidence.
// Only a route that explains more is.
func (d *design) addSmooth(none int) {
	d.requests[none] = 1
	binomial := 1.0
	for k := range smoothDegree + 1 {
		x := make([]float64, len(d.w))
		for t := range x {
			at := (float64(t) + 0.5) / float64(len(x))
			x[t] = binomial * math.Pow(at, float64(k)) * math.Pow(1-at, float64(smoothDegree-k))
		}
		d.add(none, x)
		binomial = binomial * float64(smoothDegree-k) / float64(k+1)
	}
}

// add adds a column, if a route with these times can be recognised.
func (d *design) add(route int, x []float64) {
	c := column{route: route, x: make([]float64, len(d.w))}
	for t, w := range d.w {
		c.sum += x[t]
		c.x[t] = x[t] * w
	}
	c.norm = dot(c.x, c.x)
	if c.sum >= leastRequests && spread(x) >= leastSpread {
		d.columns = append(d.columns, c)
	}
}

// none is the route of the columns that belong to no route.
func (d *design) none() int { return len(d.requests) - 1 }

// inner returns the inner products of a column with all columns.
func (d *design) inner(c int) []float64 {
	if d.gram[c] == nil {
		d.gram[c] = make([]float64, len(d.columns))
		for i := range d.columns {
			d.gram[c][i] = dot(d.columns[c].x, d.columns[i].x)
		}
	}
	return d.gram[c]
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

// An assumed time is the part of a request in which a statement runs: from
// before to after its logged end, in ticks. A negative after is a time before the
// end.
type assumed struct{ before, after float64 }

// assumed are the times that are tried for the requests of a route, in a load of
// n ticks. A statement runs once at about the same time before the end, or
// throughout the request.
func (s Series) assumed(n int) []assumed {
	most := min(float64(n)/8, 128)
	lengths := []float64{0}
	for l := 0.5; l <= most; l *= 2 {
		lengths = append(lengths, l)
	}
	var out []assumed
	for _, before := range lengths {
		for _, after := range lengths {
			if (before == 0 || !s.Timed) && (after == 0 || s.Aborted) {
				out = append(out, assumed{before, after})
			}
		}
	}
	for at := 1.0; at <= most && !s.Timed; {
		width := max(1, math.Floor(at/10))
		out = append(out, assumed{at + width, -at})
		at += width
	}
	return out
}

// running spreads requests, which ended in the ticks of counts, evenly over the
// time from before to after their end. Within its tick, an end is equally likely
// at each moment.
func running(counts []float64, before, after float64) []float64 {
	n := len(counts)
	if before+after == 0 {
		return slices.Clone(counts)
	}
	// area is the integral over the number of requests that ended before a time.
	sums, areas := make([]float64, n+1), make([]float64, n+1)
	for t, c := range counts {
		sums[t+1] = sums[t] + c
		areas[t+1] = areas[t] + sums[t] + c/2
	}
	area := func(at float64) float64 {
		switch {
		case at <= 0:
			return 0
		case at >= float64(n):
			return areas[n] + sums[n]*(at-float64(n))
		}
		t := int(at)
		part := at - float64(t)
		return areas[t] + sums[t]*part + counts[t]*part*part/2
	}
	out := make([]float64, n)
	for t := range out {
		from, to := float64(t)-after, float64(t)+before // the ends of requests that run at the start of the tick
		out[t] = max(0, area(to+1)-area(to)-area(from+1)+area(from)) / (before + after)
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
	executions := 0.0
	for _, c := range counts {
		executions += c
	}
	if !f.whole(executions) {
		f.grow()
	}
	if len(f.in) == 0 {
		return Result{}
	}
	out := Result{R2: f.explained(counts), Ticks: f.ticks}
	all := 0.0
	for i, c := range f.in {
		all += f.each[i] * d.columns[c].sum
	}
	for i, c := range f.in {
		if d.columns[c].route == d.none() {
			continue
		}
		s := Sender{Route: d.columns[c].route, Each: f.each[i], Err: f.stdErr(i), Share: f.each[i] * d.columns[c].sum / all}
		if s.Rival, s.Margin = f.rival(i); s.Rival == d.none() {
			s.Rival = -1
		}
		s.Certain = s.Margin >= certainF
		out.Senders = append(out.Senders, s)
	}
	slices.SortStableFunc(out.Senders, func(a, b Sender) int { return cmp.Compare(b.Share, a.Share) })
	return out
}
