package cause

import (
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

// Rules decide by counts, not by times: the same rows take three times as long
// on a busy machine, and findings must not depend on that. The unit of work is
// the unit of the index advice: 1 is a row read in memory (about a microsecond),
// [index.CostStatement] a statement with its round trip. Seconds only rank findings.

// Thresholds of work in a finding: about a hundredth of a second of one core,
// and a share of the work of all statements.
const (
	leastWork      = 10_000.0
	leastWorkShare = 0.002
)

// WorkOf is a lower bound of the work of a digest by its counts: every row read
// in order, none through a secondary index.
func WorkOf(d Digest) float64 {
	return d.Totals.Count*index.CostStatement + d.Totals.Examined + float64(d.Query.Affected)*index.CostLook
}

// Considerable reports whether saved work reaches both thresholds.
func (v *View) Considerable(saved float64) bool {
	return saved >= leastWork && saved >= leastWorkShare*v.Work
}

// attribute charges the seconds that an index saves to the index: other
// findings about the same statement share the rest. The saved work is also
// subtracted from the total, because findings that are small beside a full scan
// matter once its index is there.
func (v *View) attribute() {
	rest := v.Work
	for _, p := range v.Advice.Add {
		if p.OnlyCovers() && v.OnHistories(p) || !v.Considerable(p.Work()) {
			continue
		}
		for _, s := range p.Serves {
			for i := range v.Digests {
				if v.Digests[i].Query.Digest == s.Query.Digest {
					v.Digests[i].Saved += index.Saving(s).Hi
					rest -= min(s.Work(), s.Query.Examined)
				}
			}
		}
	}
	v.Work = max(0, rest)
	for _, d := range v.Digests {
		v.saved += min(d.Saved, d.Totals.Seconds)
	}
}

// Rest is the seconds of all statements that no advised index saves. The share of a
// finding is judged by it: beside full scans everything is small, and the site that
// is left without them spends its time on the rest.
func (v *View) Rest() float64 { return max(0, v.Seconds-v.saved) }

// mostSpeedup bounds how many times as many requests a site is taken to answer without
// its full scans.
const mostSpeedup = 20.0

// Speedup is how many times as many requests the site may answer once the advised indexes
// are there: what costs little in a run of a slow site costs that many times as much
// then.
func (v *View) Speedup() float64 {
	if v.Seconds == 0 {
		return 1
	}
	return min(mostSpeedup, v.Seconds/max(v.Rest(), v.Seconds/mostSpeedup))
}

// leastGain is the least gain of a finding of the view: a share of the seconds of the
// statements that no advised index saves, as the view's gains count them, and
// leastSeconds in a run without full scans.
func (v *View) leastGain() float64 {
	rest := v.Rest()
	if v.Schema == nil && len(v.Databases) > 0 { // gains in seconds of the CPU
		rest = 0
		for _, d := range v.Databases {
			rest += d.Rest() * d.Weight
		}
	}
	return max(LeastSeconds/v.Speedup(), LeastShare*rest)
}

// Left is the seconds of a digest that no advised index saves.
func (d Digest) Left() float64 { return max(0, d.Totals.Seconds-d.Saved) }
