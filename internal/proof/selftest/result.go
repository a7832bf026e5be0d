package selftest

import (
	"math"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

// A Found is one change in force at the end of a search.
type Found struct {
	// Truth is the effect on ln(score) that its removal would take back in full runs: 0 of a
	// useless change.
	Truth  float64
	Shown  float64 // the effect that iikanji expects of it
	Lo, Hi float64 // the interval shown beside it, or beside the bundle that it was proven with
	Of     float64 // the true effect that the interval is of: the change's, or that of the bundle
	Alone  bool    // it had a trial of its own
	// Proven: it is printed as proven by itself. Tried is its mean true effect in the runs
	// that proved it.
	Proven bool
	Tried  float64
	// Unwanted: it must not be in force whatever the score. Cheaper: it lowers the work, so
	// that it is not useless.
	Unwanted, Cheaper bool
}

// Useless reports whether the removal of the change would alter nothing.
func (f Found) Useless() bool { return f.Truth == 0 && !f.Unwanted && !f.Cheaper }

// Harmful reports whether the site would be better without the change.
func (f Found) Harmful() bool { return f.Truth < 0 || f.Unwanted }

// A Result is what one simulated search came to.
type Result struct {
	Found    []Found
	Possible float64 // the best that can be reached, on ln(score)
	Good     int     // changes in force of those that reach it
	Missed   int     // changes of those that reach it that are not in force
	Final    float64 // true effect of the final state in full runs, on ln(score)
	Covered  bool    // the headline's interval covers the truth
	Compared bool    // there is a headline with an interval
	Unproven int     // changes in force that the search names as unproven alone
	Runs     int
	Took     time.Duration
	Limit    time.Duration // of the time; 0 for none
	Unused   time.Duration // of it
	Idle     bool          // a third of the time was left, and a candidate had no run
	Attempts int
	Tried    int // candidates that were in force in a run
}

// result compares an outcome with the truth.
func (s *site) result(out *tune.Outcome) *Result {
	in := s.inForce()
	r := &Result{Final: s.truth.Score(in, 1), Runs: out.Runs, Took: out.Took, Attempts: len(out.Attempts),
		Unproven: out.Proofs.Unproven}
	if r.Limit = s.search.Options.Time; r.Limit > 0 {
		r.Unused = max(0, r.Limit-out.Took)
	}
	r.Idle = 3*r.Unused > r.Limit && s.neverRun()
	r.Tried = s.everRun().Count()
	for k := range s.candidates {
		if in.Has(k) {
			r.Found = append(r.Found, s.found(out, in, k))
		}
	}
	best := s.bestState()
	r.Possible, r.Good = best.Score, best.found(in)
	r.Missed = best.Sets[0].Count() - r.Good
	if out.Ratio.Lo > 0 {
		truth := s.mean(out.Final) - s.mean(out.Untouched)
		r.Compared = true
		r.Covered = math.Log(out.Ratio.Lo) <= truth+alters && truth-alters <= math.Log(out.Ratio.Hi)
	}
	return r
}

// neverRun reports whether a candidate was in force in no run. One whose answers differ may have
// none.
func (s *site) neverRun() bool {
	ever := s.everRun()
	for k, c := range s.candidates {
		if !ever.Has(k) && !c.Differs {
			return true
		}
	}
	return false
}

// everRun are the candidates that were in force in a run.
func (s *site) everRun() (ever Set) {
	for _, in := range s.states {
		ever |= in
	}
	return ever
}

// bestState is the best that the search could reach.
func (s *site) bestState() Best {
	if s.search.best != nil && s.search.Draw == nil {
		return *s.search.best
	}
	return bestOf(s.truth, allows(s.candidates))
}

// allows reports whether a set may be in force: one value of each constant, and nothing
// unwanted.
func allows(cs []Candidate) func(Set) bool {
	return func(in Set) bool {
		var places Set
		for k, c := range cs {
			if !in.Has(k) {
				continue
			}
			at := k
			if c.Kind == Knob {
				at = c.Of
			}
			if c.unwanted() || places.Has(at) {
				return false
			}
			places |= 1 << at
		}
		return true
	}
}

// mean is the mean ln(score) that runs print by their states and lengths.
func (s *site) mean(ids []iikanji.RunID) float64 {
	sum := 0.0
	for _, id := range ids {
		sum += s.printed(s.states[id-1], s.runs[id-1].Took)
	}
	return sum / float64(len(ids))
}

// found is the k-th candidate, which is in force, with what the search says of it.
func (s *site) found(out *tune.Outcome, in Set, k int) Found {
	c := s.candidates[k]
	f := Found{Truth: marginal(s.truth, in, k, 1), Unwanted: c.unwanted(), Cheaper: c.lowersWork()}
	f.Of = f.Truth
	for i := range out.Attempts {
		a := &out.Attempts[i]
		for _, id := range a.Changes {
			do := s.changes[id-1].Do[0]
			if s.changes[id-1].Stage != iikanji.Kept || do.Place != c.place(k) || do.Body != c.content(k) {
				continue
			}
			v := s.verdicts[id]
			if len(a.Changes) == 1 {
				v = a.Verdict
			}
			f.Shown, f.Lo, f.Hi, f.Alone = v.Expect.Mid, v.Expect.Lo, v.Expect.Hi, len(a.Changes) == 1
			if proof := provenAlone(a, id); proof != nil {
				f.Proven, f.Shown, f.Lo, f.Hi = true, proof.Expect.Mid, proof.Expect.Lo, proof.Expect.Hi
				f.Tried = s.tried(proof, k, f.Truth)
			} else if a.HasSeveral() {
				parts := s.partsOf(a) // the bundle as it was measured
				f.Of = s.truth.Score(in|parts, 1) - s.truth.Score(in&^parts, 1)
			}
		}
	}
	return f
}

// partsOf are the candidates of an attempt, also those that were dropped at the end.
func (s *site) partsOf(a *search.Attempt) Set {
	var parts Set
	for _, id := range a.Changes {
		for k, c := range s.candidates {
			if do := s.changes[id-1].Do[0]; do.Place == c.place(k) && do.Body == c.content(k) {
				parts |= 1 << k
			}
		}
	}
	return parts
}

// provenAlone is the verdict by which a search calls a change in force proven by itself, as
// iikanji tune prints it: "KEPT, proven", or "proven alone" of a part of a bundle. It is nil
// if it does not.
func provenAlone(a *search.Attempt, id iikanji.ChangeID) *iikanji.Verdict {
	switch {
	case a.Verdict.Call != iikanji.Keep || a.Dropped || a.Undone || a.Provisional():
		return nil
	case a.HasSeveral():
		if p := a.PartOf(id); p != nil {
			return p.Alone
		}
		return nil
	case a.Verdict.Reason != iikanji.Proven:
		return nil
	}
	return &a.Verdict
}

// tried is the mean effect that a candidate truly had in the runs with it that proved it;
// other is what is returned where a verdict names no runs.
func (s *site) tried(v *iikanji.Verdict, k int, other float64) float64 {
	sum, n := 0.0, 0.0
	for _, id := range v.Tried {
		if in := s.states[id-1]; in.Has(k) {
			took := s.runs[id-1].Took
			sum, n = sum+s.printed(in, took)-s.printed(in.Without(k), took), n+1
		}
	}
	if n == 0 {
		return other
	}
	return sum / n
}
