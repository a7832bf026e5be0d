package tune

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// mostRewrites bounds a bundle of rewrites of source.
const mostRewrites = 12

// allRewrites are a rewrite of source with all others that wait for a trial: one
// comparison of answers and one build serve all. A knob is tried alone, and so is
// what a proposer wrote.
func (q *queue) allRewrites(first Candidate) []Candidate {
	alone := func(c Candidate) bool { return !c.rewrites() || c.knob() || c.apart() || c.Proposed }
	if alone(first) {
		return nil
	}
	parts := []Candidate{first}
	for _, c := range q.waiting(first.blinds()) {
		covered := func(o Candidate) bool { return o.cause() == c.cause() || o.covers(c) }
		if len(parts) < mostRewrites && !alone(c) && !slices.ContainsFunc(parts, covered) {
			parts = append(parts, c)
		}
	}
	return parts
}

// covers reports whether a rewrite has all fixes of another: those of its function by
// its levers.
func (c Candidate) covers(o Candidate) bool {
	a, b := c.Remedy.Args, o.Remedy.Args
	if c.Remedy.Target != o.Remedy.Target || a["file"] != b["file"] || a["func"] != b["func"] || b["levers"] == "" {
		return false
	}
	has := strings.Split(a["levers"], ",")
	return !slices.ContainsFunc(strings.Split(b["levers"], ","), func(code string) bool { return !slices.Contains(has, code) })
}

// hasFixes reports whether a rewrite of an attempt has all fixes of a candidate.
func (a Attempt) hasFixes(c Candidate) bool {
	return c.rewrites() && slices.ContainsFunc(a.parts(), func(part Candidate) bool { return part.covers(c) })
}

// answerRuns is how many runs' time the build and the comparison of answers of a
// change of source take.
const answerRuns = 2

// extraRuns is the cost of a candidate's trial beyond its runs, in runs.
func (c Candidate) extraRuns() float64 {
	if c.rewrites() {
		return answerRuns
	}
	return 0
}

// knob reports whether a candidate is one of several values of a constant in source.
// What it is worth depends on the limit: a constant that throttles hides nothing as
// long as another limit binds.
func (c Candidate) knob() bool { return c.rewrites() && c.Remedy.Args["variant"] != "" }

// apart reports whether a candidate is planned from all of the source, such as a query
// cache from all statements. Other rewrites come before it: they would invalidate the
// plan.
func (c Candidate) apart() bool { return c.nature().apart }

// last reports whether a candidate waits while rewrites of source wait for their trial:
// they would invalidate the plan of a change that is planned from all of the source. A
// knob waits only until the first of them: what admits more work gains only where work
// has become cheaper.
func (q *queue) last(c Candidate) bool {
	return c.apart() || c.knob() && !slices.ContainsFunc(q.ledger.Attempts, func(a Attempt) bool { return a.Skipped == "" && a.rewriting() })
}

// rewriting reports whether an attempt is of rewrites of source other than knobs.
func (a Attempt) rewriting() bool {
	return slices.ContainsFunc(a.parts(), func(c Candidate) bool { return c.rewrites() && !c.knob() })
}

// parts are the candidates of an attempt, without their words where it is a bundle.
func (a Attempt) parts() []Candidate {
	if a.Kind() != bundleKind {
		return []Candidate{a.Candidate}
	}
	var all []Candidate
	for key := range a.Remedy.Args {
		all = append(all, Candidate{Remedy: remedyOf(key)})
	}
	return all
}

// rewritesWait reports whether a rewrite of source waits for its trial that is not
// planned from all of the source.
func (q *queue) rewritesWait(cs []Candidate) bool {
	return slices.ContainsFunc(cs, func(c Candidate) bool {
		tried, _ := q.tried(c)
		return !tried && c.rewrites() && !c.apart() && !c.knob() && !q.trifling(c)
	})
}

// freed reports whether a change with a considerable effect was kept after an
// attempt that had no gain, if only provisionally. The limit may then be another one
// although the same resource binds, so that a knob is tried again, and an undecided
// candidate that promises more.
func (q *queue) freed(attempt int) bool {
	a := q.ledger.Attempts[attempt]
	if a.Verdict.Call == iikanji.Keep || a.Verdict.Reason == iikanji.Gate || a.Skipped != "" {
		return false
	}
	for i := range q.ledger.Attempts[attempt+1:] {
		later := &q.ledger.Attempts[attempt+1+i]
		if later.Verdict.Call == iikanji.Keep && (later.Verdict.Effect.Mid >= leap || later.provisional()) && len(q.ledger.inForceOf(later)) > 0 {
			return true
		}
	}
	return false
}

// without is the factor on the chance of a rewrite after a trial of it with others had no
// gain.
const without = 0.25

// sibling is the factor on the chance of a knob's value after a trial of another one had
// no gain.
const sibling = 0.25

// prospects is the factor on the chance of a rewrite by what trials have shown since the
// diagnosis. A rewrite that had no gain together with others hardly has one alone. A knob
// has twice its chance once a rewrite with a considerable effect is in force, and less
// after each trial of another of its values that had no gain: one of two values that a
// limit hides is no better than the other.
func (q *queue) prospects(c Candidate) float64 {
	part := 1.0
	if !c.knob() {
		for _, a := range q.ledger.Attempts {
			if _, in := a.Remedy.Args[c.Key()]; in && a.Kind() == bundleKind && a.Verdict.Reason == iikanji.NoGain {
				part *= without
			}
		}
		return part
	}
	for i, a := range q.ledger.Attempts {
		if (a.Verdict.Effect.Mid >= leap || a.provisional()) && a.rewriting() && len(q.ledger.inForceOf(&a)) > 0 {
			part = max(part, 2)
		}
		same := a.Key != c.Key() && a.Remedy.Target == c.Remedy.Target && a.knob()
		for _, arg := range []string{"file", "func", "place"} {
			same = same && a.Remedy.Args[arg] == c.Remedy.Args[arg]
		}
		if same && a.Skipped == "" && a.Verdict.Call != iikanji.Keep && !q.freed(i) {
			part *= sibling
		}
	}
	return part
}

// rewrites reports whether a remedy changes the source of an app.
func rewrites(r *iikanji.Remedy) bool {
	return r != nil && natureOf(*r).rewrites
}

// rewrites reports whether a candidate changes source. Its trial has a build and a
// comparison of answers, so that it is not mixed with others in screenings.
func (c Candidate) rewrites() bool { return c.nature().rewrites }
