package selftest

import (
	"context"
	"math"
	"runtime"
	"sync"
)

// A Tally sums up the results of many searches of one kind.
type Tally struct {
	Name     string
	Searches int
	Null     int     // changes without effect in force at the end
	Harmful  int     // changes with a negative effect in force at the end
	Good     int     // changes with a gain in force at the end
	Missed   int     // changes with a gain that are not
	AnyNull  int     // searches with a change without effect in force
	AnyHarm  int     // searches with a harmful change in force
	AllGood  int     // searches with every gain in force
	Harm     float64 // sum of the harm, on ln(score)
	Gain     float64 // sum of the good effects in force, on ln(score)
	Possible float64 // of all good effects
	Final    float64 // sum of the true final effects on ln(score)
	Compared int
	Covered  int
	Changes  int // in force, with an interval
	Inside   int // whose interval covers the truth
	Shown    float64
	Truth    float64
	Expected float64
	Runs     int
	Minutes  float64
}

// add counts one search.
func (t *Tally) add(r *Result) {
	t.Searches++
	null, harmful := 0, 0
	for _, f := range r.Found {
		switch {
		case f.Truth > 0:
			t.Good++
			t.Gain += f.Truth
		case f.Truth < 0:
			harmful++
			t.Harm -= f.Truth
		default:
			null++
		}
		t.Changes++
		if f.Lo <= f.Truth && f.Truth <= f.Hi {
			t.Inside++
		}
		t.Shown, t.Truth = t.Shown+f.Shown, t.Truth+f.Truth
	}
	t.Possible += r.Possible
	t.Null, t.Harmful, t.Missed = t.Null+null, t.Harmful+harmful, t.Missed+r.Missed
	t.AnyNull, t.AnyHarm, t.AllGood = t.AnyNull+one(null > 0), t.AnyHarm+one(harmful > 0), t.AllGood+one(r.Missed == 0)
	t.Compared, t.Covered = t.Compared+one(r.Compared), t.Covered+one(r.Covered)
	t.Final, t.Expected = t.Final+r.Final, t.Expected+r.Expected
	t.Runs, t.Minutes = t.Runs+r.Runs, t.Minutes+r.Took.Minutes()
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Simulate runs n searches on all CPUs. Each has its own seed, so that the
// tally does not depend on the number of CPUs; progress is called after each.
func (s *Search) Simulate(ctx context.Context, seed uint64, n int, progress func()) (Tally, error) {
	results := make([]*Result, n)
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				results[i], errs[i] = s.Run(ctx, seed, uint64(i))
				if progress != nil {
					progress()
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	t := Tally{Name: s.Name}
	for i, r := range results {
		if errs[i] != nil {
			return t, errs[i]
		}
		t.add(r)
	}
	return t, nil
}

// Share is k of n with its 95 % interval (Wilson 1927).
type Share struct{ Mid, Lo, Hi float64 }

// share is k of n.
func share(k, n int) Share {
	if n == 0 {
		return Share{math.NaN(), 0, 1}
	}
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Share{p, max(0, mid-half), min(1, mid+half)}
}
