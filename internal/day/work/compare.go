package work

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/comparison"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Cost is a cost per request, compared.
type Cost struct {
	Name string `json:"name"` // as in "rows examined", "database CPU"
	comparison.Result
}

// A Comparison is what a run shows against the kept state.
type Comparison struct {
	Run  *iikanji.Run `json:"-"`
	ID   iikanji.RunID
	Base iikanji.RunID `json:"base"`
	Kept bool          `json:"kept"` // somebody kept the base
	// Same: the run is one more of the kept state.
	Same  bool              `json:"same,omitempty"`
	Score comparison.Result `json:"score"`
	Costs []Cost            `json:"costs,omitempty"`
	// Faults are how the faults of the runs differ, if the run failed.
	Faults []comparison.FaultChange `json:"faults,omitempty"`
	// Spread is of the runs of the kept state if the run is one of it.
	Spread float64           `json:"spread,omitempty"`
	Edits  []difference.Edit `json:"edits"`
	// KeptRuns are all runs of the kept state, Passed those that passed.
	KeptRuns int `json:"kept_runs"`
	Passed   int `json:"kept_passed"`
}

// Compare compares a run, at whose begin the site was in a state, with the kept state.
func (d *Day) Compare(run *iikanji.Run, now *state.State) (*Comparison, error) {
	base, err := d.Base()
	if err != nil {
		return nil, err
	}
	c := &Comparison{Run: run, ID: run.ID, Base: base.Run, Kept: base.Kept, Same: now.Fingerprint == base.Fingerprint, KeptRuns: len(base.Runs)}
	all, err := d.Runs()
	if err != nil {
		return nil, err
	}
	var kept, mine []*iikanji.Run
	for _, r := range base.Runs {
		if r.Clean() {
			c.Passed++
			kept = append(kept, r)
		}
	}
	if c.Edits, err = d.Edits(base.State, now); err != nil {
		return nil, err
	}
	if c.Same {
		var scores []float64
		for _, r := range kept {
			scores = append(scores, math.Log(r.Score))
		}
		if len(scores) > 1 {
			c.Spread = stats.SD(scores)
		}
		c.Score.Kept, c.Score.KeptRuns = math.Exp(stats.Mean(scores)), len(scores)
		return c, nil
	}
	for _, r := range all {
		if r.State == now.Fingerprint {
			mine = append(mine, r)
		}
	}
	if !run.Clean() {
		c.Faults = comparison.Faults(base.Runs, []*iikanji.Run{run})
		return c, nil
	}
	length := func(r *iikanji.Run) bool { return r.Clean() && alike(r, run) }
	mine, kept = filter(mine, length), filter(kept, length)
	points := func(value func(*iikanji.Run) float64) (ps []comparison.Point) {
		for _, r := range filter(all, length) {
			ps = append(ps, comparison.Point{Run: r.ID, State: r.State, At: r.Began, Value: value(r)})
		}
		return ps
	}
	c.Score = comparison.Score(points(func(r *iikanji.Run) float64 { return r.Score }), ids(kept), ids(mine))
	for _, name := range costNames(run) {
		r := comparison.Cost(points(func(r *iikanji.Run) float64 { return costOf(r, name) }), ids(kept), ids(mine))
		if r.Word != comparison.None {
			c.Costs = append(c.Costs, Cost{name, r})
		}
	}
	slices.SortStableFunc(c.Costs, func(a, b Cost) int {
		return cmp.Compare(math.Abs(b.Effect.Mid), math.Abs(a.Effect.Mid))
	})
	return c, nil
}

// alike reports whether two runs had loads of about the same length: scores of others do
// not compare.
func alike(a, b *iikanji.Run) bool {
	if a.Took <= 0 || b.Took <= 0 {
		return true
	}
	ratio := a.Took.Seconds() / b.Took.Seconds()
	return ratio > 0.8 && ratio < 1.25
}

func filter(runs []*iikanji.Run, keep func(*iikanji.Run) bool) (out []*iikanji.Run) {
	for _, r := range runs {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

func ids(runs []*iikanji.Run) (out []iikanji.RunID) {
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}

// shownCounts are the counters of a database that are compared per request.
var shownCounts = []string{"rows examined", "queries", "temporary tables", "rows sorted", "bytes sent"}

// leastCPU is the least CPU time that is compared: the kernel counts it in steps of 10 ms.
const leastCPU = time.Second

// costNames are the costs that a run has.
func costNames(run *iikanji.Run) (names []string) {
	for _, name := range shownCounts {
		if run.Counts[name] > 0 {
			names = append(names, name)
		}
	}
	for _, u := range run.Usage {
		if u.Who != "generator" && u.Who != "other" && u.User+u.System >= leastCPU {
			names = append(names, u.Who+" CPU")
		}
	}
	return names
}

// costOf is a cost per request; 0 if the run does not have it.
func costOf(run *iikanji.Run, name string) float64 {
	requests := requestsOf(run)
	if requests == 0 {
		return 0
	}
	if n, ok := run.Counts[name]; ok {
		return n / requests
	}
	for _, u := range run.Usage {
		if u.Who+" CPU" == name && u.User+u.System >= leastCPU {
			return (u.User + u.System).Seconds() / requests
		}
	}
	return 0
}

// requestCount is the count of requests in the access logs; see Traffic.
const requestCount = "requests in the access log"

// requestsOf is how many requests a run had: those of the access logs, else those that the
// load generator counted.
func requestsOf(run *iikanji.Run) float64 {
	if n := run.Counts[requestCount]; n > 0 {
		return n
	}
	if run.Load.Requests > 0 {
		return float64(run.Load.Requests)
	}
	n := 0.0
	for _, s := range run.Steps {
		n += float64(s.Count)
	}
	return n
}
