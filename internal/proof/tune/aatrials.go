package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// AATrials are the results of the judge on a real, unchanged site: every keep is
// a false one.
type AATrials struct {
	Noise    float64           `json:"noise"` // SD of ln(score) of a pair's difference, from the pairs before the trials
	Verdicts []iikanji.Verdict `json:"verdicts"`
	Kept     int               `json:"kept"`
	Pairs    int               `json:"pairs"`
	Runs     int               `json:"runs"`
	Voided   int               `json:"voided"`

	accept bool // disturbed runs count
}

// RunAATrials runs an unchanged site until n trials have their verdicts. Each
// trial has its own runs; a void pair is repeated, but where most runs are
// disturbed, they count. report is called after each pair and may be nil.
func RunAATrials(ctx context.Context, f Field, n int, length time.Duration, report func(AATrials)) (AATrials, error) {
	var out AATrials
	var past [][]judge.Pair
	var before []judge.Pair
	for len(before) < int(search.CalibrationPairs.Value()) {
		p, err := out.pair(ctx, f, length)
		if err != nil {
			return out, err
		}
		if p.Void == "" {
			before = append(before, p)
		}
	}
	past = append(past, before)
	for len(out.Verdicts) < n {
		j := judge.NewJudge(judge.Noise(nil, past...))
		if out.Noise == 0 {
			out.Noise = j.Prior.SD()
		}
		c := judge.Case{Change: iikanji.Change{ID: iikanji.ChangeID(len(out.Verdicts) + 1)}}
		for v := (iikanji.Verdict{}); v.Call == iikanji.CallUnknown; {
			p, err := out.pair(ctx, f, length)
			if err != nil {
				return out, err
			}
			c.Pairs = append(c.Pairs, p)
			if report != nil {
				report(out)
			}
			if v = j.Decide(c); v.Call != iikanji.CallUnknown {
				out.Verdicts = append(out.Verdicts, v)
				out.Pairs += len(v.Tried)
				if v.Call == iikanji.Keep {
					out.Kept++
				}
			}
		}
		past = append(past, c.Pairs)
	}
	return out, nil
}

// pair makes two runs of the same state.
func (o *AATrials) pair(ctx context.Context, f Field, length time.Duration) (judge.Pair, error) {
	var p judge.Pair
	for _, candidate := range []bool{false, true} {
		run, void, err := f.Bench(ctx, load.Spec{Load: length, Accept: o.accept})
		if err != nil {
			return p, err
		}
		if ctx.Err() != nil {
			return p, context.Cause(ctx)
		}
		o.Runs++
		if judge.Failed(run) {
			return p, fmt.Errorf("%w: %s", ErrChecks, whyFailed(run))
		}
		if void == "" && !run.Clean() {
			void = cmp.Or(run.Load.Why, "not a valid measurement")
		}
		if p.Put(candidate, run, void); p.Void != "" {
			o.Voided++
			o.accept = o.accept || o.Voided > 20+o.Runs/2
			return p, nil
		}
	}
	return p, nil
}

// Bound returns the upper 95 % bound on the share of false keeps, from the
// number of trials and of keeps (exact, Clopper–Pearson).
func (o *AATrials) Bound() float64 {
	n, k := len(o.Verdicts), o.Kept
	if n == 0 || k >= n {
		return 1
	}
	if k == 0 {
		return stats.FailureBound(n, 0.05)
	}
	lo, hi := float64(k)/float64(n), 1.0
	for range 60 { // the tail decreases with p
		mid := (lo + hi) / 2
		if binomialTail(n, k, mid) > 0.05 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// binomialTail returns P(X ≤ k) for n trials with probability p.
func binomialTail(n, k int, p float64) float64 {
	sum, term := 0.0, math.Pow(1-p, float64(n))
	for i := 0; i <= k; i++ {
		sum += term
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return sum
}
