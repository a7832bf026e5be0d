package measurement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// said are the messages of the run's benchmarker with a meaning, the most frequent first.
func said(v *cause.View, means iikanji.Meaning) (out []iikanji.Message) {
	if v.Input.Run == nil {
		return nil
	}
	for _, m := range v.Input.Run.Messages {
		if m.Means == means {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b iikanji.Message) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// times is how often messages were printed.
func times(ms []iikanji.Message) (n int64) {
	for _, m := range ms {
		n += m.Count
	}
	return n
}

// quoted is a message for a claim.
func quoted(m iikanji.Message) string {
	text := fmt.Sprintf("%q", cause.Cut(m.Text, 60))
	if m.Count > 1 {
		text += fmt.Sprintf(" ×%d", m.Count)
	}
	return text
}

// evidenceOf has the messages with their times.
func evidenceOf(ms []iikanji.Message) (out []iikanji.Evidence) {
	for _, m := range ms[:min(5, len(ms))] {
		text := fmt.Sprintf("%d× %s", m.Count, cause.Cut(m.Text, 120))
		if m.Last > 0 {
			text += fmt.Sprintf(", %s to %s after its first line", cause.Brief(m.First), cause.Brief(m.Last))
		}
		out = append(out, iikanji.Evidence{Source: "benchmarker", Text: text})
	}
	return out
}

// stalledShare is the least share of the decisions about the load by which it did not grow,
// for a load that stalled: a benchmarker that grows it nine times of ten is not held back.
const stalledShare = 1.0 / 3

// stalled are the messages that the load did not grow, if it stalled.
func stalled(v *cause.View) []iikanji.Message {
	no, grew := said(v, iikanji.MeansNoGrowth), said(v, iikanji.MeansGrowth)
	if n := float64(times(no)); n == 0 || n < stalledShare*(n+float64(times(grew))) {
		return nil
	}
	return no
}

// full names what was used up in a run, as in "the CPU (database)"; "" for nothing.
func full(v *cause.View) string {
	switch b := v.Binding; b.Resource {
	case "", "generator":
		return ""
	case "cpu":
		return fmt.Sprintf("the CPU (%s)", b.Who)
	case "locks":
		return fmt.Sprintf("locks (%s)", b.Who)
	case "disk":
		return fmt.Sprintf("the disk (%s)", b.Who)
	default:
		return fmt.Sprintf("%s (%s)", b.Resource, b.Who)
	}
}

// hostOf names the host of the service that used most of what was used up, "" for the only
// one.
func hostOf(v *cause.View) string {
	for _, s := range v.Input.Target.Services {
		if s.Name == v.Binding.Who {
			return s.Host
		}
	}
	return ""
}

// slowness is how slow a route was, as in "0.9 s on average, 2.3 s at most"; "" if unknown.
func slowness(v *cause.View, route string) string {
	for _, p := range v.Input.Profiles {
		if p.Source != iikanji.Access || !v.Input.Seen(p) {
			continue
		}
		for _, r := range p.Rows {
			if r.Count > 0 && r.Total > 0 && cause.SameRoute(route, r.Key) {
				return fmt.Sprintf("%s on average, %s at most", cause.Brief(r.Total/time.Duration(r.Count)), cause.Brief(r.Max))
			}
		}
	}
	return ""
}

// slowest is the route with the longest mean time among those of reads that clients wait for,
// and that time is well above that of the others; "" if there is none.
func slowest(v *cause.View) string {
	type timed struct {
		route string
		mean  float64
	}
	var all []timed
	for _, p := range v.Input.Profiles {
		if p.Source != iikanji.Access || !v.Input.Seen(p) {
			continue
		}
		for _, r := range p.Rows {
			if r.Count >= 5 && r.Total > 0 && strings.HasPrefix(r.Key, "GET ") {
				all = append(all, timed{r.Key, r.Total.Seconds() / float64(r.Count)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(b.mean, a.mean) })
	if len(all) == 0 || all[0].mean < slowSeconds {
		return ""
	}
	return all[0].route
}

// slowSeconds is the mean time from which on a page is slow for a person who waits for it.
const slowSeconds = 0.5
