package diagnose

// A rule decides by what was counted, and not by what was timed: the same rows
// take three times as long on a busy machine, and a finding that comes and
// goes with that would teach nobody anything. So work is told in the units of
// the index advice, of which one is a row read in memory (about a microsecond
// on today's machines) and [costStatement] a statement with its round trip.
// Seconds say only which finding stands first.

// Less work than this in a run is not worth a word: about a hundredth of a
// second of one core, or this share of all that the run's statements did.
const (
	leastWork      = 10_000.0
	leastWorkShare = 0.002
)

// workOf is the work of a digest by its counts, at the least: each row read in
// order, none looked up.
func workOf(d digest) float64 {
	return d.q.Count*costStatement + d.q.Examined + float64(d.Query.Affected)*costLook
}

// felt says whether work that goes away can be felt in a run: it is something
// in itself, and not lost among all that the statements do.
func (v *view) felt(saved float64) bool {
	return saved >= leastWork && saved >= leastWorkShare*v.work
}

// work is what an index saves one query, in the units of work.
func (s Served) work() float64 {
	before := s.costBefore()
	return max(0, before-s.CostAfter) * s.Query.Count * s.Share
}

// attribute gives the seconds that an index saves to the index: what is said
// of the same statement besides has only those that are left. The work goes
// too: what one scan drowns today will be felt when its index is there.
func (v *view) attribute() {
	rest := v.work
	for _, p := range v.advice.Add {
		if p.onlyCovers() && v.onHistories(p) || !v.felt(p.work()) {
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
}

// left are the seconds of a digest that no index saves.
func (d digest) left() float64 { return max(0, d.q.Seconds-d.saved) }

// work is what an index saves all that it serves.
func (p Proposal) work() float64 {
	sum := 0.0
	for _, s := range p.Serves {
		sum += s.work()
	}
	return sum
}

// costBefore is the cost of one execution without the index: as foreseen, or
// as the server counted it where it counted far fewer rows.
func (s Served) costBefore() float64 {
	if s.Query.Examined > 0 {
		return min(s.CostBefore, costStatement+s.before()*(1+costLook))
	}
	return s.CostBefore
}
