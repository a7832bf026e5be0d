package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
)

// Which route sends a statement is in no log of a server. But load is never
// quite even, and the statements of a route come and go with its requests: so
// the counts of a digest by second are held against the counts of each route.
//
//	statements(t) = each × (w × requests(t) + (1−w) × requests(t+1)) + noise
//
// Requests are logged when they end and their statements before that, so some
// (1−w) belong to lines of the next second. No constant: without requests
// there are no statements. A route is named only where it explains most of the
// coming and going and no other one does nearly as well; in steady load nobody
// can tell, and nothing is said.
//
// Routes go along with each other too: the page before its data, the pictures
// after the list. Hence files and pages that are always the same are left out,
// and a number of statements per request that no single route would give (1.9,
// or 0.7, or 3, unless the fit is very clear) is taken for what it is: several
// routes, or one that goes along.

// What makes a fit good enough to be told.
const (
	fitSeconds = 6    // seconds of load at the least
	fitWeighty = 5.0  // of them that matter, see weighty
	fitAsked   = 20.0 // requests of a route at the least
	fitR2      = 0.80 // explained share of the variance
	fitRival   = 1.5  // times the squared error that the next best route leaves
	fitClear   = 8.0  // the same for routes that do not send it once in each request, nor in a loop
	fitClearR2 = 0.95
	fitWhole   = 0.1 // from a whole number, for up to fitLoop statements in each request
	fitLoop    = 5.0
	fitSecond  = 1.5 // times the squared error that goes away with a second route
	fitPart    = 0.1 // of the executions that it has to send
	fitPages   = 20  // answers of one size that make a page
)

// A fit is how well one route explains a digest.
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

// evidence tells a fit with its confidence.
func (f fit) evidence() iikanji.Evidence {
	return iikanji.Evidence{Source: "per second", Text: fmt.Sprintf("%.1f ± %.1f executions for each %s over %d s (r² = %.2f; the next best route: %.2f)",
		f.each, 2*f.err, f.route, f.n, f.r2, max(0, f.rival))}
}

// A counted is a row with its counts in each second of the load.
type counted struct {
	key    string
	counts []float64
}

// routes are the rows of the access log by second, files left out: no
// statement is behind them. from is the first second of all.
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
	if n = int(last - first - 1); n < fitSeconds { // the last second is cut: statements without their lines
		return nil, 0, 0
	}
	for _, r := range rows {
		routes = append(routes, counted{r.Key, spread(r.PerSecond, first, n+1)})
	}
	return routes, first, n
}

// spread lays counts over the seconds from first on.
func spread(p *iikanji.PerSecond, first int64, n int) []float64 {
	out := make([]float64, n)
	for i, c := range p.Counts {
		if at := p.From + int64(i) - first; at >= 0 && at < int64(n) {
			out[at] += float64(c)
		}
	}
	return out
}

// findRoutes fits every digest that has counts by second.
func (v *view) findRoutes() {
	routes, from, n := v.bySecond()
	for i, d := range v.digests {
		if d.PerSecond == nil || d.q.Count < float64(3*n) {
			continue
		}
		f := bestRoute(spread(d.PerSecond, from, n), routes)
		if f != nil && f.each >= fitLoop && v.threaded() && float64(v.repeat(d).Count) < seriesSome*d.q.Count {
			f = nil // a loop shows in series: this is a statement of many routes that go along
		}
		v.digests[i].route = f
	}
}

// bestRoute is the route that explains y, nil when none does, or several do.
func bestRoute(y []float64, routes []counted) *fit {
	var fits []fit
	for _, r := range routes {
		if f, ok := fitRoute(y, r); ok {
			fits = append(fits, f)
		}
	}
	slices.SortStableFunc(fits, func(a, b fit) int { return cmp.Compare(a.rest, b.rest) })
	if len(fits) < 2 || weighty(y) < fitWeighty || weighty(fits[0].x) < fitWeighty {
		return nil // one route would explain everything
	}
	best, next := fits[0], fits[1]
	asked := 0.0
	for _, n := range best.x {
		asked += n
	}
	if asked < fitAsked {
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

// helps says whether a second route beside the best one explains a digest much
// better, with a visible part of it: then several routes send it. Plain least
// squares with two unknowns.
func helps(y []float64, a, b fit) bool {
	aa, ab, bb, ay, by, all := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for t := range y {
		aa, ab, bb = aa+a.x[t]*a.x[t], ab+a.x[t]*b.x[t], bb+b.x[t]*b.x[t]
		ay, by, all = ay+a.x[t]*y[t], by+b.x[t]*y[t], all+y[t]
	}
	det := aa*bb - ab*ab
	if det < 1e-9*aa*bb {
		return false // they go along: the rivals' rule decides
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

// weighty is how many seconds matter: all of them where the counts are alike,
// one where a single burst has nearly everything. Any two bursts lie on a line.
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

// page says whether all answers of a route, but those without a body, had one
// size: there are no rows in them.
func page(r iikanji.Row) bool {
	if r.Web == nil || r.Web.Method != "GET" || r.Count < fitPages {
		return false
	}
	return r.Web.Bytes > 0 && r.Web.Bytes == r.Web.MaxBytes*iikanji.Bytes(r.Count-r.Web.Status[3])
}

// fitRoute is the best fit of one route over the shares w.
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
		f.r2, f.err = 1-f.rest/total, math.Sqrt(f.rest/float64(n-2)/xx) // w was chosen too
		if !ok || f.rest < best.rest {
			best, ok = f, true
		}
	}
	return best, ok
}

// place names a digest and, where it is known, the route that sends it.
func (d digest) place() string {
	if d.route == nil {
		return d.where()
	}
	return d.route.route + ": " + d.where()
}

// told adds the route to the evidence of a digest.
func (d digest) told(e ...iikanji.Evidence) []iikanji.Evidence {
	out := append([]iikanji.Evidence{d.evidence()}, e...)
	if d.route != nil {
		out = append(out, d.route.evidence())
	}
	return out
}
