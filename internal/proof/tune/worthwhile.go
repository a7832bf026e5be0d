package tune

import (
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// better reports whether another candidate promises more per run than continuing a
// trial of some changes with these looks. Ending a trial early keeps nothing, so it
// never keeps wrongly.
func (q *queue) better(v iikanji.Verdict, looks stats.Looks, changes int) bool {
	if q.options.Time <= 0 || len(v.Tried) < 1 {
		return false
	}
	sd := q.judge.Prior.SD()
	ahead := promise(v, sd, looks)
	little := len(v.Tried) > 1 && ahead < hopeless // nothing comes of it even if there is time
	if changes > 1 || q.proved(q.under) {          // neither is ended for another candidate
		return little
	}
	if q.due() && q.timeFor() < lastCall*q.cost {
		return true
	}
	next, ok := q.next(false)
	if !ok || slices.ContainsFunc(q.ledger.Attempts, func(a Attempt) bool { return a.Key == next.Key() && a.Deferred }) {
		return little
	}
	return ahead < next.Chance*next.Gain/runsFor(next.Gain, sd)
}

// likely is the effect to expect of a change of a kind that mostly has one. What is
// shown to users is more careful.
func likely(v iikanji.Verdict) float64 {
	const usual = 0.10 // standard deviation of such effects
	return v.Effect.Mid * usual * usual / (usual*usual + v.SE*v.SE)
}

// promise is the expected gain per run of continuing a trial: at the best of the
// remaining looks, the chance that the mean proves a gain, times that gain.
func promise(v iikanji.Verdict, sd float64, looks stats.Looks) float64 {
	n, best := float64(len(v.Tried)), 0.0
	for _, size := range looks.Sizes {
		l := float64(size)
		if l <= n {
			continue
		}
		need := max(v.Worth, 2.12*sd/math.Sqrt(l)) // approximately the bound of that look
		z := (likely(v) - need) / (sd * math.Sqrt(1/n-1/l))
		best = max(best, stats.NormalCDF(z)*max(likely(v), need)/(2*(l-n)))
	}
	return best
}

// ahead reports whether a trial is so likely to prove a gain that it may take
// time from the last comparison, whose runs stay at least twice as long as the
// trial's.
func (b *budget) ahead(v iikanji.Verdict) bool {
	end := time.Duration(2*b.options.Pairs)*(min(2*b.options.Short, b.options.Full)+b.overhead()) + b.spare()
	return v.Effect.Lo > 0 && likely(v) >= leap/2 && b.timeLeft()-end > 2*b.cost
}
