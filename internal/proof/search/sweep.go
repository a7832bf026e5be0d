package search

import (
	"slices"

	"github.com/iikanji/iikanji"
)

// A closed loop of clients can use all that one cure saves: a client that sends its next
// request as soon as it has an answer sends more of them, and where these score little, the
// score stays as it is until the other causes of their cost are cured, too. Trials of single
// changes then show no gain, whatever the changes are worth together. The arena isuports is
// such a site: an index took the database's CPU time from 6.0 to 2.3 s of 10, the app used
// 3 s more, and the score fell by a fifth. With six other changes the index brought 64 %.

// sweeps reports whether the search tries candidates together first.
func (s *State) sweeps() bool { return s.Scarce() || s.Ledger.Absorbed }

// sweep is the candidates to try as one change, in a scarce search or where other work uses
// what one cure saves: the first with all others that promise something, one of each
// finding. Before rewrites of source comes a sweep without them if it promises much: a slow
// site answers few of the requests whose answers are compared. nil means no sweep.
func (s *State) sweep(first Candidate) []Candidate {
	if !s.sweeps() || first.Traits.Blinds || first.alone() {
		return nil
	}
	if s.Suspects[first.Key()] && len(s.Suspects) == 1 {
		return nil
	}
	all := append([]Candidate{first}, s.sweepable()...)
	source := first.Traits.Rewrites || first.Gain < s.constant(Large)
	if s.Ledger.Absorbed {
		source = promised(all) < s.constant(Large)
	}
	room := s.roomForSuspects()
	var parts []Candidate
	for _, c := range all {
		covered := func(o Candidate) bool { return o.Cause() == c.Cause() || o.hasFixesOf(c) }
		if s.Suspects[c.Key()] {
			if room--; room < 0 {
				continue
			}
		}
		switch {
		case len(parts) == s.count(MostSwept) || slices.ContainsFunc(parts, covered):
		case c.alone() || c.Chance*c.Gain < s.constant(LeastSwept):
		case c.Traits.Rewrites && !source:
		default:
			parts = append(parts, c)
		}
	}
	return parts
}

// roomForSuspects is how many candidates of a sweep that failed are in the next one.
func (s *State) roomForSuspects() int {
	if len(s.Suspects) == 1 {
		return 0
	}
	return shareUp(len(s.Suspects), s.constant(SuspectShare))
}

// sweepable are the candidates for a sweep, best first: those that wait for a trial and,
// where other work uses what one cure saves, those that brought nothing alone.
func (s *State) sweepable() []Candidate {
	parts := s.waiting(false)
	if !s.Ledger.Absorbed {
		return parts
	}
	for _, c := range s.rankedNow() {
		if s.broughtNothingAlone(c) && !c.Traits.Blinds && !s.isTrifle(c) {
			parts = append(parts, c)
		}
	}
	return parts
}

// broughtNothingAlone reports whether the last trial of a candidate was one of its own,
// without a proof of a gain, and whether no sweep had it as a part.
func (s *State) broughtNothingAlone(c Candidate) bool {
	key := c.Key()
	for _, a := range slices.Backward(s.Ledger.Attempts) {
		if a.IsBundle() && a.hasPart(key) {
			return false
		}
		if a.Key == key {
			return a.TriedAlone()
		}
	}
	return false
}

// promised is the sum of the gains that candidates other than rewrites of source promise.
func promised(cs []Candidate) float64 {
	sum := 0.0
	for _, c := range cs {
		if !c.Traits.Rewrites && !c.Traits.Apart && !c.Traits.Prepared && !c.knob() {
			sum += c.Gain
		}
	}
	return sum
}

// Swept notes what the latest attempt says of the parts of a sweep. If a run failed its
// checks, one of them is the cause: they become suspects, and the next sweeps have a third
// of these, until one is left, which is tried alone.
func (s *State) Swept(parts []Candidate) {
	if len(s.Ledger.Attempts) == 0 {
		return
	}
	a := &s.Ledger.Attempts[len(s.Ledger.Attempts)-1]
	if !a.IsBundle() {
		return
	}
	var keys []string
	for _, p := range parts {
		if a.hasPart(p.Key()) {
			keys = append(keys, p.Key())
		}
	}
	switch {
	case a.Verdict.Reason == iikanji.Gate:
		s.Suspects = map[string]bool{}
		for _, k := range keys {
			s.Suspects[k] = true
		}
	case a.Skipped == "":
		for _, k := range keys {
			delete(s.Suspects, k)
		}
	}
}

// MayAbsorb reports whether an attempt promised so much more than its score shows that the
// CPU times of its runs are asked who used what it saved.
func (s *State) MayAbsorb(a *Attempt) bool {
	e := a.Verdict.Effect
	return !s.Ledger.Absorbed && a.Candidate.Gain >= s.constant(Solid) && a.TriedAlone() && e.Level != 0 &&
		e.Mid < s.constant(AbsorbedShare)*a.Candidate.Gain
}

// Absorbs compares the CPU time of services before and after a change: in one it fell by a
// considerable share of the stack's, and in another it rose by most of that.
func (s *State) Absorbs(before, after map[string]float64) (saver, user string, ok bool) {
	saved, used, all := 0.0, 0.0, 0.0
	for who, share := range before {
		all += share
		if d := share - after[who]; d > saved {
			saver, saved = who, d
		}
		if d := after[who] - share; d > used {
			user, used = who, d
		}
	}
	return saver, user, all > 0 && saved >= s.constant(SavedShare)*all && used >= s.constant(UsedShare)*saved
}
