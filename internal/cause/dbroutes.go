package cause

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/attribute"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// No log shows which route sends a statement: package attribute derives it from
// when requests and statements ran. Routes correlate with each other: a page with
// its data, pictures with their list. Files and constant pages are therefore left
// out, and a number of statements per request that a single route rarely has (1.9
// or 0.7) needs more evidence.

// Thresholds of an attribution.
const (
	fitSeconds = 6    // least seconds of load
	fitAsked   = 20.0 // least requests of a route, where only seconds are known
	FitShare   = 0.70 // least share of the executions of the route of a digest
	fitSome    = 0.05 // the same of one of several routes
	fitR2      = 0.05 // least explained share of the variance
	fitSecond  = 0.80 // the same where only seconds are known
	fitWhole   = 0.1  // largest distance from an integer, for up to fitLoop statements per request
	fitLoop    = 5.0
	fitClear   = 60.0 // least margin over the next best route without an integer
	fitAborted = 0.02 // least share of the requests that clients gave up on, for them to count
	fitPages   = 20   // least answers of one size of a constant page
	fitDigests = 300  // most digests, the heaviest ones
	fitRoutes  = 150  // most routes, the most frequent ones
)

// A Sender is a route that sends a digest.
type Sender struct {
	Route  string
	Each   float64 // executions per request
	Err    float64 // standard error of each
	Share  float64 // of the executions
	rival  string  // the next best route, "" for none
	margin float64 // how much worse the fit is with the rival
	n      int     // ticks
	step   time.Duration
	from   string // the statement whose route this is, "" for the digest itself
	source bool   // by the source, no other route of the run sends it
}

// evidence formats a fit with its confidence.
func (f Sender) evidence() iikanji.Evidence {
	if f.source && f.from == "" {
		return iikanji.Evidence{Source: "source", Text: fmt.Sprintf("%.1f executions for each %s: no handler of another route of the run sends it", f.Each, f.Route)}
	}
	text := fmt.Sprintf("%.1f ± %.1f executions for each %s, from %d intervals of %v", f.Each, 2*f.Err, f.Route, f.n, f.step)
	if f.rival != "" {
		text += fmt.Sprintf(" (without it, %s fits worse: F = %.0f)", f.rival, f.margin)
	}
	return iikanji.Evidence{Source: "time", Text: text + f.inherited()}
}

// A counted is a route or a digest with its events by tick.
type counted struct {
	key    string
	counts []float64
	timed  bool // the requests are spread over their times

	aborted bool // clients gave up on many requests
}

// A clock is the ticks of a run.
type clock struct {
	from time.Time
	step time.Duration
	n    int
}

// clockOf finds the ticks that all Access and Slow profiles have; whole seconds
// where there are none.
func (v *View) clockOf() (c clock, ok bool) {
	first, last := int64(math.MaxInt64), int64(0)
	ticks, all := clock{}, true
	for _, p := range v.Input.Profiles {
		if p.Source != iikanji.Access && p.Source != iikanji.Slow || v.Blind(p.Source) {
			continue
		}
		for _, r := range p.Rows {
			if r.PerSecond != nil && p.Source == iikanji.Access {
				first, last = min(first, r.PerSecond.From), max(last, r.PerSecond.From+int64(len(r.PerSecond.Counts)))
			}
			switch t := r.Ticks; {
			case t == nil:
				all = all && r.PerSecond == nil
			case ticks.n > 0 && (!ticks.from.Equal(t.From) || ticks.step != t.Step):
				all = false
			default:
				ticks = clock{t.From, t.Step, max(ticks.n, len(t.Counts))}
			}
		}
	}
	if all && ticks.step > 0 && time.Duration(ticks.n)*ticks.step >= fitSeconds*time.Second {
		return ticks, true
	}
	n := int(last - first - 1) // the last second is incomplete: its requests were not logged
	return clock{time.Unix(first, 0), time.Second, n}, n >= fitSeconds
}

// counts are the events of a row by tick, for n ticks.
func (c clock) counts(r iikanji.Row, n int) []float64 {
	out := make([]float64, n)
	switch {
	case r.Ticks != nil && c.step == r.Ticks.Step:
		for i, n := range r.Ticks.Counts[:min(len(r.Ticks.Counts), n)] {
			out[i] = float64(n) / 1000
		}
	case r.PerSecond != nil:
		return Spread(r.PerSecond, c.from.Unix(), n)
	}
	return out
}

// askingRoutes are the routes of the access logs that may send statements: files
// and constant pages do not.
func (v *View) askingRoutes(c clock) (routes []counted) {
	var rows []iikanji.Row
	for _, p := range v.Input.Profiles {
		if p.Source != iikanji.Access || v.Blind(iikanji.Access) || v.Partly() {
			continue
		}
		for _, r := range p.Rows {
			if _, static := StaticPath(r); !static && !page(r) && (r.PerSecond != nil || r.Ticks != nil) {
				rows = append(rows, r)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b iikanji.Row) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Key, b.Key))
	})
	aborted := v.aborted()
	for _, r := range rows[:min(len(rows), fitRoutes)] {
		routes = append(routes, counted{key: r.Key, counts: c.counts(r, c.n+1), timed: r.Ticks != nil && c.step == r.Ticks.Step && r.Total > 0,
			aborted: aborted[r.Key] >= fitAborted*float64(r.Count)})
	}
	return routes
}

// aborted is how many requests of each route clients gave up on.
func (v *View) aborted() map[string]float64 {
	out := map[string]float64{}
	for f, n := range fact.TopicHTTPStatus.In(v.Input.Facts) {
		if status, route, _ := strings.Cut(f.Key, " "); status == "499" {
			out[route] += float64(n)
		}
	}
	return out
}

// Spread places counts in a series of n seconds that begins at first.
func Spread(p *iikanji.PerSecond, first int64, n int) []float64 {
	out := make([]float64, n)
	for i, c := range p.Counts {
		if at := p.From + int64(i) - first; at >= 0 && at < int64(n) {
			out[at] += float64(c)
		}
	}
	return out
}

// findRoutes finds the routes of the digests.
func (v *View) findRoutes() {
	c, ok := v.clockOf()
	if !ok {
		return
	}
	routes := v.askingRoutes(c)
	var of []int // digests, heaviest first
	for i, d := range v.Digests {
		if d.Ticks != nil || d.PerSecond != nil {
			of = append(of, i)
		}
	}
	slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(v.Digests[b].Totals.Seconds, v.Digests[a].Totals.Seconds) })
	of = of[:min(len(of), fitDigests)]
	var digests []counted
	for _, i := range of {
		digests = append(digests, counted{key: v.Digests[i].Query.Digest, counts: c.counts(v.Digests[i].Row, c.n)})
	}
	all := sendersOf(c, routes, digests)
	within := v.bySource(c, routes, digests, all)
	for k, senders := range all {
		d := &v.Digests[of[k]]
		d.within = within[k]
		if v.Threaded() && float64(v.Repeat(*d).Count) < seriesSome*d.Totals.Count {
			senders = slices.DeleteFunc(senders, func(f Sender) bool { return f.Each >= fitLoop }) // a loop would be in series
		}
		d.Senders = senders
		if i := slices.IndexFunc(senders, func(f Sender) bool { return f.Share >= FitShare }); i >= 0 {
			d.Route = &senders[i]
		}
	}
	v.inheritRoutes()
}

// sendersOf are the certain routes of each digest, the one with the most
// executions first. With a single route nothing is certain: it would explain
// anything.
func sendersOf(c clock, routes, digests []counted) [][]Sender {
	out := make([][]Sender, len(digests))
	if len(routes) < 2 {
		return out
	}
	series := func(all []counted) (s []attribute.Series) {
		for _, x := range all {
			s = append(s, attribute.Series{Counts: x.counts, Timed: x.timed, Aborted: x.aborted})
		}
		return s
	}
	for i, r := range attribute.Find(series(routes), series(digests)) {
		if least := fitR2; r.R2 < least || c.step >= time.Second && r.R2 < fitSecond {
			continue
		}
		for _, s := range r.Senders {
			f := Sender{Route: routes[s.Route].key, Each: s.Each, Err: s.Err, Share: s.Share, margin: s.Margin, n: c.n, step: c.step}
			if s.Rival >= 0 {
				f.rival = routes[s.Rival].key
			}
			if s.Certain && s.Share >= fitSome && f.plausible() && (c.step < time.Second || routes[s.Route].events() >= fitAsked) {
				out[i] = append(out[i], f)
			}
		}
	}
	return out
}

func (r counted) events() float64 {
	sum := 0.0
	for _, n := range r.counts {
		sum += n
	}
	return sum
}

// plausible reports whether a route may send that many statements per request.
func (f Sender) plausible() bool {
	off := max(0, math.Abs(f.Each-math.Round(f.Each))-2*f.Err)
	switch {
	case f.Each >= fitLoop:
		return true
	case f.Each > 1:
		return off <= fitWhole
	}
	return 1-f.Each-2*f.Err <= fitWhole || f.margin >= fitClear
}

// page reports whether all answers of a route with a body had the same size:
// then they contain no data from the database.
func page(r iikanji.Row) bool {
	if r.Web == nil || r.Web.Method != "GET" || r.Count < fitPages {
		return false
	}
	return r.Web.Bytes > 0 && r.Web.Bytes == r.Web.MaxBytes*iikanji.Bytes(r.Count-r.Web.Status[3])
}

// Place is the place of a digest in a finding: its route if known, and its
// fingerprint.
func (d Digest) Place() string {
	if d.Route == nil {
		return d.where()
	}
	return d.Route.Route + ": " + d.where()
}

// WithEvidence is the evidence of a digest, with more evidence and that of its route
// if known.
func (d Digest) WithEvidence(e ...iikanji.Evidence) []iikanji.Evidence {
	out := append([]iikanji.Evidence{d.Evidence()}, e...)
	if d.Route != nil {
		out = append(out, d.Route.evidence())
	}
	return out
}
