package tune

import (
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// takeUp continues the trial of a candidate that was put off, with the pairs that
// it has, and sets the levels of its looks: each new trial of the same candidate
// has half the error of the one before. The pairs of a candidate that promises more
// since do not count: they are against another incumbent.
func (tr *trial) takeUp(c Candidate, key string) error {
	var last *Attempt
	ended, anew := 0, false // anew: the pairs of the last trial do not count
	for i := range tr.ledger.Attempts {
		a := &tr.ledger.Attempts[i]
		if a.Key != key || a.Skipped != "" {
			continue
		}
		tr.closed = tr.closed || a.Fast && a.Verdict.Call != iikanji.Keep
		if last != nil && last.Deferred && !a.continues(last) {
			ended++
		}
		if last, anew = a, tr.regains(c, i); !a.Deferred {
			ended++
		}
	}
	if anew && last.Deferred {
		ended++
	}
	tr.looks = tr.judge.Looks.Scaled(math.Pow(0.5, float64(ended)))
	if last == nil || anew || !last.Deferred || last.Fast {
		return nil
	}
	base, err := tr.load(last.Verdict.Base)
	if err != nil {
		return err
	}
	tried, err := tr.load(last.Verdict.Tried)
	if err != nil {
		return err
	}
	for i := range base {
		tr.c.Pairs = append(tr.c.Pairs, judge.Pair{A: base[i], B: tried[i]})
	}
	tr.had = len(base)
	tr.resumed = tr.had > 0
	if tr.resumed && tr.free != nil && slices.Contains(last.Verdict.Base, tr.free.ID) {
		tr.free = nil
	}
	return nil
}

// continues reports whether a trial has the pairs of a deferred one. A deferred trial
// without pairs cost no error.
func (a *Attempt) continues(deferred *Attempt) bool {
	base := deferred.Verdict.Base
	return len(base) == 0 || slices.Contains(a.Verdict.Base, base[0])
}

// grown is the factor on the expected gain of an undecided candidate from which it has
// another trial although the same resource is the limit.
const grown = 1.25

// regains reports whether a candidate whose trial was undecided promises more now,
// because a change with a considerable effect was kept since. That is so if its expected
// gain has grown, or if it is large and its trial was ended early.
func (q *queue) regains(c Candidate, attempt int) bool {
	a := &q.ledger.Attempts[attempt]
	if !a.Parked || a.Kind() == bundleKind || !q.freed(attempt) {
		return false
	}
	return c.Gain >= grown*a.Gain && c.Gain >= leap || a.Deferred && c.Gain >= large
}

// undecidedBefore is the factor on the chance of a candidate for each trial of it that
// decided nothing before the limit moved.
const undecidedBefore = 0.5

// anotherChance is the product of these factors for a candidate that was tried under
// other limits.
func (q *queue) anotherChance(c Candidate) float64 {
	part := 1.0
	for i := range q.ledger.Attempts {
		if q.ledger.Attempts[i].Key == c.Key() && q.regains(c, i) {
			part *= undecidedBefore
		}
	}
	return part
}

// weakKeeps counts the changes in force whose proof must be repeated.
func (b *ledger) weakKeeps() int {
	n := 0
	for i := range b.Attempts {
		a := &b.Attempts[i]
		if a.Verdict.Call == iikanji.Keep && !a.Dropped && a.weak() && len(b.inForceOf(a)) > 0 {
			n++
		}
	}
	return n
}

// falseKeeps is how many changes in force are expected to have no effect. Half of
// those that were proven only together with others are counted.
func (b *ledger) falseKeeps() float64 {
	sum := 0.0
	for i := range b.Attempts {
		a := &b.Attempts[i]
		if inForce := len(b.inForceOf(a)); a.Verdict.Call != iikanji.Keep || a.Dropped || inForce == 0 {
			continue
		} else if inForce > 1 {
			for i := range a.Changes {
				if i < len(a.Alone) && a.Alone[i] != nil {
					sum += a.Alone[i].Doubt
				} else {
					sum += 0.5
				}
			}
		} else {
			sum += a.Verdict.Doubt
		}
	}
	return sum
}

// rule is the judge with the levels of this trial.
func (tr *trial) rule() judge.Judge {
	j := tr.judge
	if len(tr.looks.Sizes) > 0 {
		j.Looks = tr.looks
	}
	return j
}
