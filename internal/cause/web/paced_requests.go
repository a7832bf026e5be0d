package web

import (
	"fmt"
	"math"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// pacedShare is the largest share of all requests that those of a clock may have: a load
	// may come at an even pace itself.
	pacedShare = 0.05
	// pacedBins is the least number of intervals that are compared, and pacedEach how many
	// requests one has on average.
	pacedBins = 20
	pacedEach = 2.0
	// mostUneven is the largest variance of the requests of an interval by their mean. That of
	// requests by chance is 1; below 0.2 it is in 1 of 20,000 routes with 20 intervals.
	mostUneven = 0.2
	// mostPaced is how many routes may be of clocks: if more are, the load is.
	mostPaced = 3
)

var pacedRequests = cause.Declare(cause.PerWeb, findPacedRequests,
	cause.Cause{Code: "WEB120", Title: "requests of a clock", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "a job calls a route at an even pace, whatever the load: its work cannot grow with the load",
		Remedies: []cause.Way{cause.Patch}})

// findPacedRequests reports routes whose requests come as evenly as the ticks of a clock: a
// loop outside of the load calls them, as a matcher or a cron job. What one call does is all
// that happens in a tick. The seconds that this costs are not known.
func findPacedRequests(v *cause.View) []iikanji.Finding {
	if v.Blind(iikanji.Access) {
		return nil
	}
	rows := v.Access()
	all := requestsIn(rows)
	var out []iikanji.Finding
	for _, r := range rows {
		rate, ok := paceOf(r.PerSecond)
		if !ok || float64(r.Count) > pacedShare*all {
			continue
		}
		says, took := "", r.Web.Upstream
		if took == 0 {
			took = r.Total
		}
		if busy := took.Seconds() / float64(r.Count) * rate; took > 0 && !r.Untimed {
			says = fmt.Sprintf("; they are at work %.0f %% of the time", 100*busy)
		}
		out = append(out, iikanji.Finding{Code: "WEB120", Where: r.Key,
			Claim:    fmt.Sprintf("%s comes %s, as evenly as a clock and whatever the load: a job outside of the load calls it", r.Key, often(rate)),
			Evidence: []iikanji.Evidence{{Source: "access log", Text: fmt.Sprintf("%s requests of %s%s", cause.Number(float64(r.Count)), cause.Number(all), says)}},
			Remedies: v.Patch("do all that waits in one call instead of one piece of it, or call it more often where its own time is short: what waits for it grows with the load, its pace does not", nil)})
	}
	if len(out) > mostPaced {
		return nil
	}
	return out
}

// often is a rate in words.
func often(rate float64) string {
	if rate < 0.95 {
		return fmt.Sprintf("every %.1f s", 1/rate)
	}
	return fmt.Sprintf("%.1f times a second", rate)
}

// paceOf is the rate of requests that come at an even pace, by the second; ok is false for
// others. The first and the last second with a request are cut.
func paceOf(s *iikanji.PerSecond) (rate float64, ok bool) {
	if s == nil {
		return 0, false
	}
	counts := s.Counts
	for len(counts) > 0 && counts[0] == 0 {
		counts = counts[1:]
	}
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	if len(counts) < pacedBins+2 {
		return 0, false
	}
	counts = counts[1 : len(counts)-1]
	sum := 0.0
	for _, n := range counts {
		sum += float64(n)
	}
	rate = sum / float64(len(counts))
	size := max(1, int(math.Ceil(pacedEach/max(rate, 1e-9))))
	bins := len(counts) / size
	if rate == 0 || bins < pacedBins {
		return 0, false
	}
	variance, mean := 0.0, rate*float64(size)
	for i := range bins {
		n := 0.0
		for _, c := range counts[i*size : (i+1)*size] {
			n += float64(c)
		}
		variance += (n - mean) * (n - mean) / float64(bins)
	}
	return rate, variance/mean <= mostUneven
}
