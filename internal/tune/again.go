package tune

import (
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/judge"
)

// takeUp continues the trial of a candidate that was put off, with the pairs that
// it has, and sets the levels of its looks: each new trial of the same candidate
// has half the error of the one before.
func (tr *trial) takeUp(key string) error {
	var last *Attempt
	ended := 0
	for i := range tr.ledger.Attempts {
		a := &tr.ledger.Attempts[i]
		if a.Key != key || a.Skipped != "" {
			continue
		}
		tr.closed = tr.closed || a.Fast && a.Verdict.Call != iikanji.Keep
		if last = a; !a.Deferred {
			ended++
		}
	}
	tr.looks = tr.judge.Looks.Scaled(math.Pow(0.5, float64(ended)))
	if last == nil || !last.Deferred || last.Fast {
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
