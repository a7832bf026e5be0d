package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
)

// No log shows which route sends a statement. But load varies, and the number of
// statements of a route varies with its requests: the counts of a digest by
// second are fitted to the counts of each route.
//
//	statements(t) = each × (w × requests(t) + (1−w) × requests(t+1)) + noise
//
// Requests are logged when they end, statements before that, so a share (1−w)
// belongs to requests of the next second. There is no constant term: without
// requests there are no statements. A route is reported only if it explains most
// of the variance and no other route explains nearly as much. Under steady load
// no route can be found.
//
// Routes correlate with each other too: a page with its data, pictures with
// their list. Files and constant pages are therefore left out, and a number of
// statements per request that a single route cannot have (1.9 or 0.7; 3 unless
// the fit is very clear) means several routes, or a correlated one.

// Thresholds of a fit.
const (
	fitSeconds  = 6    // least seconds of load
	fitWeighty  = 5.0  // least effective number of seconds, see weighty
	fitRequests = 20.0 // least requests of a route
	fitR2       = 0.80 // least explained share of the variance
	fitRival    = 1.5  // least ratio of the squared error of the next best route
	fitClear    = 8.0  // the same unless there is one statement per request, or a loop
	fitClearR2  = 0.95
	fitWhole    = 0.1 // largest distance from an integer, for up to fitLoop statements per request
	fitLoop     = 5.0
	fitSecond   = 1.5 // least factor by which a second route lowers the squared error
	fitPart     = 0.1 // least share of the executions that the second route sends
	fitPages    = 20  // least answers of one size of a constant page
)

// A fit is the result of fitting one route to a digest.
type fit struct {
	route string
	each  float64 // executions per request
	err   float64 // standard error of each
	r2    float64
	rest  float64   // squared error
	n     int       // seconds
	rival float64   // r² of the next best route
	x     []float64 // its requests by second, as fitted
}

// evidence formats a fit with its confidence.
func (f fit) evidence() iikanji.Evidence {
	return iikanji.Evidence{Source: "per second", Text: fmt.Sprintf("%.1f ± %.1f executions for each %s over %d s (r² = %.2f; the next best route: %.2f)",
		f.each, 2*f.err, f.route, f.n, f.r2, max(0, f.rival))}
}

// A counted is a row with its counts in each second of the load.
type counted struct {
	key    string
	counts []float64
}

// bySecond has the rows of the access logs by second, without files: they have
// no statements. from is the first second, n the number of seconds.
func (v *view) bySecond() (routes []counted, from int64, n int) {
	var rows []iikanji.Row
	first, last := int64(math.MaxInt64), int64(0)
	for _, p := range v.in.Profiles {
		if p.Source != iikanji.Access || v.blind(iikanji.Access) {
			continue
		}
		for _, r := range p.Rows {
			if r.PerSecond == nil {
				continue
			}
			first, last = min(first, r.PerSecond.From), max(last, r.PerSecond.From+int64(len(r.PerSecond.Counts)))
			if _, static := staticPath(r); !static && !page(r) {
				rows = append(rows, r)
			}
		}
	}
	if n = int(last - first - 1); n < fitSeconds { // the last second is incomplete: its requests were not logged
		return nil, 0, 0
	}
	for _, r := range rows {
		routes = append(routes, counted{r.Key, spread(r.PerSecond, first, n+1)})
	}
	return routes, first, n
}

// spread places counts in a series of n seconds that begins at first.
func spread(p *iikanji.PerSecond, first int64, n int) []float64 {
	out := make([]float64, n)
	for i, c := range p.Counts {
		if at := p.From + int64(i) - first; at >= 0 && at < int64(n) {
			out[at] += float64(c)
		}
	}
	return out
}

// findRoutes finds the route of each digest that has counts by second.
func (v *view) findRoutes() {
	routes, from, n := v.bySecond()
	for i, d := range v.digests {
		if d.PerSecond == nil || d.q.Count < float64(3*n) {
			continue
		}
		f := bestRoute(spread(d.PerSecond, from, n), routes)
		if f != nil && f.each >= fitLoop && v.threaded() && float64(v.repeat(d).Count) < seriesSome*d.q.Count {
			f = nil // a loop would be in series: the statement belongs to several correlated routes
		}
		v.digests[i].route = f
	}
}

// bestRoute is the route that explains y; nil if none does, or if several do.
func bestRoute(y []float64, routes []counted) *fit {
	var fits []fit
	for _, r := range routes {
		if f, ok := fitRoute(y, r); ok {
			fits = append(fits, f)
		}
	}
	slices.SortStableFunc(fits, func(a, b fit) int { return cmp.Compare(a.rest, b.rest) })
	if len(fits) < 2 || weighty(y) < fitWeighty || weighty(fits[0].x) < fitWeighty {
		return nil // a single route would explain anything
	}
	best, next := fits[0], fits[1]
	requests := 0.0
	for _, n := range best.x {
		requests += n
	}
	if requests < fitRequests {
		return nil
	}
	best.rival = next.r2
	clear := best.r2 >= fitR2 && next.rest >= fitRival*best.rest
	switch off := math.Abs(best.each - math.Round(best.each)); {
	case best.each < fitLoop && best.each > 1 && off > fitWhole:
		clear = false
	case best.each < fitLoop && math.Abs(best.each-1) > fitWhole:
		clear = best.r2 >= fitClearR2 && next.rest >= fitClear*best.rest
	}
	if !clear {
		return nil
	}
	for _, o := range fits[1:] {
		if helps(y, best, o) {
			return nil
		}
	}
	return &best
}

// helps reports whether a second route besides the best one explains a digest
// much better, with a considerable part of it: then several routes send it. It
// is ordinary least squares with two unknowns.
func helps(y []float64, a, b fit) bool {
	aa, ab, bb, ay, by, all := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for t := range y {
		aa, ab, bb = aa+a.x[t]*a.x[t], ab+a.x[t]*b.x[t], bb+b.x[t]*b.x[t]
		ay, by, all = ay+a.x[t]*y[t], by+b.x[t]*y[t], all+y[t]
	}
	det := aa*bb - ab*ab
	if det < 1e-9*aa*bb {
		return false // collinear: the ratio to the next best route decides
	}
	ca, cb := (ay*bb-by*ab)/det, (by*aa-ay*ab)/det
	if ca < 0 || cb < 0 {
		return false
	}
	rest, part := 0.0, 0.0
	for t := range y {
		miss := y[t] - ca*a.x[t] - cb*b.x[t]
		rest, part = rest+miss*miss, part+cb*b.x[t]
	}
	return rest*fitSecond < a.rest && part > fitPart*all
}

// weighty is the effective number of seconds: all of them if the counts are
// equal, one if a single burst has nearly all. Any two bursts lie on a line.
func weighty(y []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, c := range y {
		sum, squares = sum+c, squares+c*c
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// page reports whether all answers of a route with a body had the same size:
// then they contain no data from the database.
func page(r iikanji.Row) bool {
	if r.Web == nil || r.Web.Method != "GET" || r.Count < fitPages {
		return false
	}
	return r.Web.Bytes > 0 && r.Web.Bytes == r.Web.MaxBytes*iikanji.Bytes(r.Count-r.Web.Status[3])
}

// fitRoute is the best fit of one route over several w.
func fitRoute(y []float64, r counted) (best fit, ok bool) {
	n := len(y)
	for _, w := range []float64{1, 0.75, 0.5, 0.25, 0} {
		xx, xy := 0.0, 0.0
		x := make([]float64, n)
		for t := range n {
			x[t] = w*r.counts[t] + (1-w)*r.counts[t+1]
			xx, xy = xx+x[t]*x[t], xy+x[t]*y[t]
		}
		if xx == 0 {
			continue
		}
		f := fit{route: r.key, each: xy / xx, n: n, x: x}
		mean, total := 0.0, 0.0
		for t := range n {
			mean += y[t] / float64(n)
		}
		for t := range n {
			miss := y[t] - f.each*x[t]
			f.rest += miss * miss
			total += (y[t] - mean) * (y[t] - mean)
		}
		if total == 0 {
			return fit{}, false
		}
		f.r2, f.err = 1-f.rest/total, math.Sqrt(f.rest/float64(n-2)/xx) // n-2: w is a fitted parameter too
		if !ok || f.rest < best.rest {
			best, ok = f, true
		}
	}
	return best, ok
}

// place is the place of a digest in a finding: its route if known, and its
// fingerprint.
func (d digest) place() string {
	if d.route == nil {
		return d.where()
	}
	return d.route.route + ": " + d.where()
}

// withEvidence is the evidence of a digest, with more evidence and that of its route
// if known.
func (d digest) withEvidence(e ...iikanji.Evidence) []iikanji.Evidence {
	out := append([]iikanji.Evidence{d.evidence()}, e...)
	if d.route != nil {
		out = append(out, d.route.evidence())
	}
	return out
}
