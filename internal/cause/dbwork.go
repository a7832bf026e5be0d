package cause

// Rules decide by counts, not by times: the same rows take three times as long
// on a busy machine, and findings must not depend on that. The unit of work is
// the unit of the index advice: 1 is a row read in memory (about a microsecond),
// [costStatement] a statement with its round trip. Seconds only rank findings.

// Thresholds of work in a finding: about a hundredth of a second of one core,
// and a share of the work of all statements.
const (
	leastWork      = 10_000.0
	leastWorkShare = 0.002
)

// workOf is a lower bound of the work of a digest by its counts: every row read
// in order, none through a secondary index.
func workOf(d digest) float64 {
	return d.q.Count*costStatement + d.q.Examined + float64(d.Query.Affected)*costLook
}

// considerable reports whether saved work reaches both thresholds.
func (v *view) considerable(saved float64) bool {
	return saved >= leastWork && saved >= leastWorkShare*v.work
}

// attribute charges the seconds that an index saves to the index: other
// findings about the same statement share the rest. The saved work is also
// subtracted from the total, because findings that are small beside a full scan
// matter once its index is there.
func (v *view) attribute() {
	rest := v.work
	for _, p := range v.advice.Add {
		if p.onlyCovers() && v.onHistories(p) || !v.considerable(p.work()) {
			continue
		}
		for _, s := range p.Serves {
			for i := range v.digests {
				if v.digests[i].Query.Digest == s.Query.Digest {
					v.digests[i].saved += saving(s).Hi
					rest -= min(s.work(), s.Query.Examined)
				}
			}
		}
	}
	v.work = max(0, rest)
	for _, d := range v.digests {
		v.saved += min(d.saved, d.q.Seconds)
	}
}

// rest is the seconds of all statements that no advised index saves. The share of a
// finding is judged by it: beside full scans everything is small, and the site that
// is left without them spends its time on the rest.
func (v *view) rest() float64 { return max(0, v.seconds-v.saved) }

// mostSpeedup bounds how many times as many requests a site is taken to answer without
// its full scans.
const mostSpeedup = 20.0

// speedup is how many times as many requests the site may answer once the advised indexes
// are there: what costs little in a run of a slow site costs that many times as much
// then.
func (v *view) speedup() float64 {
	if v.seconds == 0 {
		return 1
	}
	return min(mostSpeedup, v.seconds/max(v.rest(), v.seconds/mostSpeedup))
}

// leastGain is the least gain of a finding of the view: a share of the seconds of the
// statements that no advised index saves, as the view's gains count them, and
// leastSeconds in a run without full scans.
func (v *view) leastGain() float64 {
	rest := v.rest()
	if v.schema == nil && len(v.databases) > 0 { // gains in seconds of the CPU
		rest = 0
		for _, d := range v.databases {
			rest += d.rest() * d.weight
		}
	}
	return max(leastSeconds/v.speedup(), leastShare*rest)
}

// left is the seconds of a digest that no advised index saves.
func (d digest) left() float64 { return max(0, d.q.Seconds-d.saved) }
