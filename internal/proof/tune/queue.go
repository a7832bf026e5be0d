package tune

import (
	"slices"

	"github.com/iikanji/iikanji/internal/cause/diagnose"
)

// A queue is the candidates of the latest diagnosis, and of earlier ones. What
// the ledger and the evidence have decides which of them waits for a trial.
type queue struct {
	shared
	candidates []Candidate
	under      string // the key of the candidate under trial
	diagnosis  *diagnose.Diagnosis
	screening  screening
	suspects   map[string]bool // keys of candidates of a sweep that failed, one of which is the cause
	stale      bool            // the bottleneck may have moved: observe again
	moved      bool            // a change of a small effect was kept since the last observation
}

// binding is the resource that the latest diagnosis found to be the limit.
func (q *queue) binding() string {
	if q.diagnosis == nil {
		return ""
	}
	return q.diagnosis.Binding
}

// faded is the factor on a candidate's chance if the latest diagnosis does not
// have its finding: a bottleneck may hide it.
const faded = 0.7

// carry keeps candidates of earlier diagnoses that the latest one does not have,
// except for other remedies of a finding that has a remedy in force.
func (q *queue) carry(older []Candidate) {
	for _, c := range older {
		if q.cured(c) {
			continue
		}
		if !slices.ContainsFunc(q.candidates, func(o Candidate) bool { return o.Key() == c.Key() }) {
			c.Chance *= faded
			q.candidates = append(q.candidates, c)
		}
	}
}

// cured reports whether another remedy of the same finding is in force, or a rewrite
// that has the fixes of this one. A log that is written more cheaply may still be turned
// off.
func (q *queue) cured(c Candidate) bool {
	return c.Code != "" && !c.blinds() && !c.knob() && slices.ContainsFunc(q.ledger.Attempts, func(a Attempt) bool {
		return (a.cause() == c.cause() || slices.Contains(a.Causes, c.cause()) || a.hasFixes(c)) && len(q.ledger.inForceOf(&a)) > 0
	})
}

// next is the best candidate that was not tried under this bottleneck, among
// those that blind the sensors or among the others.
func (q *queue) next(blind bool) (Candidate, bool) {
	var rewrite, other, again Candidate
	waiting := q.rewritesWait(q.candidates)
	for _, c := range q.ranked() {
		if c.blinds() != blind || c.Key() == q.under || q.trifling(c) || waiting && q.last(c) || !q.fits(c) || q.stale && q.cured(c) {
			continue
		}
		switch tried, deferred := q.tried(c); {
		case tried:
			if deferred && again.none() && q.hopeful(c) {
				again = c
			}
		case !c.rewrites() && other.none():
			other = c
		case c.rewrites() && rewrite.none():
			rewrite = c
		}
	}
	if c, ok := q.best(rewrite, other); ok {
		return c, true
	}
	return again, !again.none()
}

// ranked are the candidates with what screenings and trials have shown of them, best
// first.
func (q *queue) ranked() []Candidate {
	return Ranked(q.believe(q.candidates), q.evidence.judge.Prior.SD())
}

// hopeless is the expected gain on ln(score) per run below which a trial is ended
// although nothing else is left to try.
const hopeless = trifle / 8

// hopeful reports whether the next runs of a trial that was put off promise enough
// to go on with it.
func (q *queue) hopeful(c Candidate) bool {
	for _, a := range slices.Backward(q.ledger.Attempts) {
		if a.Key == c.Key() {
			return q.options.Time <= 0 || promise(a.Verdict, q.evidence.judge.Prior.SD(), q.evidence.judge.Looks) >= hopeless
		}
	}
	return false
}

// trifle is the product of chance and expected gain on ln(score) below which a
// candidate is not worth a trial in a bounded time.
const trifle = 0.004

func (q *queue) trifling(c Candidate) bool {
	return q.options.Time > 0 && !c.blinds() && c.Chance*c.Gain < trifle
}

// tried reports whether a candidate had its trial, and whether that trial was
// deferred. A parked candidate is tried again once the bottleneck has moved: another
// resource is the limit, or a change was kept that makes the candidate promise more.
func (q *queue) tried(c Candidate) (tried, deferred bool) {
	for i, a := range slices.Backward(q.ledger.Attempts) {
		if a.Key == c.Key() {
			if c.knob() && q.freed(i) || q.regains(c, i) {
				return false, false
			}
			return !a.Parked || a.Binding == q.binding(), a.Deferred
		}
		if _, part := a.Remedy.Args[c.Key()]; part && a.Kind() == bundleKind && len(q.ledger.inForceOf(&a)) > 0 {
			return true, false
		}
	}
	return false, false
}

// waiting are the candidates that have had no trial yet, best first, of those
// that blind the sensors or of the others.
func (q *queue) waiting(blind bool) []Candidate {
	return slices.DeleteFunc(Ranked(q.believe(q.candidates), q.evidence.judge.Prior.SD()), func(c Candidate) bool {
		tried, _ := q.tried(c)
		return tried || c.blinds() != blind || q.trifling(c)
	})
}
