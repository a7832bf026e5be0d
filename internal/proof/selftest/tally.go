package selftest

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// A Tally sums up the results of many searches of one kind.
type Tally struct {
	Name     string
	Searches int     // that came to an end
	Null     int     // changes without effect in force at the end
	Harmful  int     // changes with a negative effect in force at the end
	Good     int     // changes with a gain in force at the end
	Missed   int     // changes with a gain that are not
	AnyNull  int     // searches with a change without effect in force
	AnyHarm  int     // searches with a harmful change in force
	AllGood  int     // searches with every gain in force
	Harm     float64 // sum of the harm, on ln(score)
	Gain     float64 // sum of the good effects in force, on ln(score)
	Possible float64 // of the best states
	Final    float64 // sum of the true final effects on ln(score)
	Compared int
	Covered  int
	Changes  int // in force, with an interval
	Inside   int // whose interval, or that of their bundle, covers the truth
	Shown    float64
	Truth    float64
	Unproven int // changes in force that the searches name as unproven alone
	Runs     int
	Minutes  float64

	Idle      int    // searches that left a third of the time while a candidate had no run
	Best      int    // changes of the best states
	AnyProven int    // searches with a useless change in force that is called proven
	Proven    int    // changes in force that are called proven
	Held      int    // whose interval covers the effect in the runs that proved them
	Errors    int    // searches that ended with an error
	Error     string `json:",omitempty"` // the first of them

	// Of single searches: changes without effect, good ones, the share of the best ln
	// ratio, and the share of the time that was left.
	Nulls, Goods, Shares, Unused Moments
	Tried                        Moments // candidates that were in force in a run
}

// Moments sum up numbers for their mean and its standard error.
type Moments struct{ N, Sum, Squares float64 }

func (m *Moments) add(x float64) { m.N, m.Sum, m.Squares = m.N+1, m.Sum+x, m.Squares+x*x }

// Mean is the mean; NaN of none.
func (m Moments) Mean() float64 { return m.Sum / m.N }

// Error is the standard error of the mean.
func (m Moments) Error() float64 {
	if m.N < 2 {
		return math.NaN()
	}
	return math.Sqrt(max(0, m.Squares-m.Sum*m.Sum/m.N) / (m.N - 1) / m.N)
}

// add counts one search.
func (t *Tally) add(r *Result) {
	t.Searches++
	null, harmful, useless, good := 0, 0, 0, 0
	for _, f := range r.Found {
		switch {
		case f.Harmful():
			harmful++
			t.Harm -= min(0, f.Truth)
		case f.Truth > 0:
			good++
			t.Gain += f.Truth
		case f.Useless():
			null++
		}
		if f.Proven {
			t.Proven, t.Held = t.Proven+1, t.Held+one(f.Lo <= f.Tried+alters && f.Tried-alters <= f.Hi)
			useless += one(f.Useless())
		}
		t.Changes++
		if f.Lo <= f.Of && f.Of <= f.Hi {
			t.Inside++
		}
		t.Shown, t.Truth = t.Shown+f.Shown, t.Truth+f.Truth
	}
	t.Possible += r.Possible
	t.Null, t.Harmful, t.Good, t.Missed = t.Null+null, t.Harmful+harmful, t.Good+good, t.Missed+r.Missed
	t.AnyNull, t.AnyHarm, t.AllGood = t.AnyNull+one(null > 0), t.AnyHarm+one(harmful > 0), t.AllGood+one(r.Missed == 0)
	t.AnyProven += one(useless > 0)
	t.Compared, t.Covered = t.Compared+one(r.Compared), t.Covered+one(r.Covered)
	t.Final, t.Unproven = t.Final+r.Final, t.Unproven+r.Unproven
	t.Runs, t.Minutes = t.Runs+r.Runs, t.Minutes+r.Took.Minutes()
	t.Idle += one(r.Idle)
	t.Nulls.add(float64(null))
	t.Tried.add(float64(r.Tried))
	t.Best += r.Good + r.Missed
	if r.Good+r.Missed > 0 {
		t.Goods.add(float64(r.Good))
		t.Shares.add(r.Final / r.Possible)
	}
	if limit := r.Limit; limit > 0 {
		t.Unused.add(float64(r.Unused) / float64(limit))
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Simulate runs n searches on all CPUs. Each has its own seed, so that the
// tally does not depend on the number of CPUs; progress is called after each. A search that
// ends with an error is counted as such.
func (s *Search) Simulate(ctx context.Context, seed uint64, n int, progress func()) (Tally, error) {
	kind := *s
	if kind.Draw == nil {
		best := bestOf(kind.truth(), allows(kind.Candidates))
		kind.best = &best
	}
	results := make([]*Result, n)
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				results[i], errs[i] = kind.Run(ctx, seed, uint64(i))
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
	if err := ctx.Err(); err != nil {
		return t, fmt.Errorf("simulating %q: %w", s.Name, err)
	}
	for i, r := range results {
		if errs[i] == nil {
			t.add(r)
			continue
		}
		if t.Errors++; t.Error == "" {
			t.Error = errs[i].Error()
		}
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
