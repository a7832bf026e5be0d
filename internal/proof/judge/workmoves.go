package judge

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// What a change does to the work of a request shows in one pair of runs: such counters vary
// about a tenth as much as the score. They prove no gain. Work that is saved where nothing waits
// for it leaves the score as it is, and a change that only shortens a wait alters no counter. So
// they alter how likely a gain is, and the score decides.

// Work is the work per successful request of a run, by its name.
func Work(r *iikanji.Run) map[string]float64 {
	all := map[string]float64{}
	for _, m := range workOf(r) {
		all[m.name] = m.value
	}
	return all
}

const (
	// ofService is how the name of the CPU time of a service ends.
	ofService = " CPU"
	// AllCPU is the name of the CPU time of all services together.
	AllCPU = "CPU of all services"
)

// cpuOf is the CPU time of all services.
func cpuOf(work map[string]float64) float64 {
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(work)) { // a sum of floats depends on the order
		if strings.HasSuffix(name, ofService) {
			sum += work[name]
		}
	}
	return sum
}

// WorkMoved is by how much work differs from a usual one: CPU time as a share of that of all
// services, everything else as a share of itself.
func WorkMoved(work, usual map[string]float64) map[string]float64 {
	moved := map[string]float64{}
	all := cpuOf(usual)
	for name, u := range usual {
		of := u
		if strings.HasSuffix(name, ofService) {
			of = all
		}
		if w, ok := work[name]; ok && of > 0 {
			moved[name] = (w - u) / of
		}
	}
	if all > 0 {
		moved[AllCPU] = (cpuOf(work) - all) / all
	}
	return moved
}

// CPUSaved is by how much the CPU time of a request is below a usual one, on its logarithm: of each
// service that has a considerable share, and of all together where there are several.
func CPUSaved(work, usual map[string]float64) map[string]float64 {
	saved := map[string]float64{}
	all, now := cpuOf(usual), cpuOf(work)
	if all <= 0 || now <= 0 {
		return saved
	}
	for name, u := range usual {
		if w := work[name]; strings.HasSuffix(name, ofService) && w > 0 && u >= leastOfCPU*all {
			saved[name] = math.Log(u / w)
		}
	}
	if len(saved) > 1 {
		saved[AllCPU] = math.Log(all / now)
	}
	return saved
}

// leastOfCPU is the least share of the CPU time of all services that a considerable one has.
const leastOfCPU = 0.05

// OfShare is the noise of the logarithm of the CPU time of a service, of whose share of all CPU
// time the noise is known.
func (n WorkNoise) OfShare(name string, usual map[string]float64) stats.Prior {
	p, all := n.Of(name), cpuOf(usual)
	if u := usual[name]; name != AllCPU && u > 0 {
		p.Var *= all / u * (all / u)
	}
	return p
}

// MeanWork is the mean work of runs, of the kinds that all of them have.
func MeanWork(works []map[string]float64) map[string]float64 {
	mean := map[string]float64{}
	if len(works) == 0 {
		return mean
	}
	for name := range works[0] {
		sum, n := 0.0, 0
		for _, w := range works {
			if v, ok := w[name]; ok {
				sum, n = sum+v, n+1
			}
		}
		if n == len(works) {
			mean[name] = sum / float64(n)
		}
	}
	return mean
}

// A WorkNoise is the noise of a difference of WorkMoved between two runs of one state, by the
// name of the work.
type WorkNoise map[string]stats.Prior

// Of is the noise of one kind of work, the usual one if none was measured.
func (n WorkNoise) Of(name string) stats.Prior {
	if p, ok := n[name]; ok {
		return p
	}
	return stats.Prior{Var: UsualMoves * UsualMoves, DF: usualMovesDF}
}

// Counted reports whether the CPU time of a request was counted in runs of one state.
func (n WorkNoise) Counted() bool {
	_, ok := n[AllCPU]
	return ok
}

// Known reports whether the noise of the CPU time of a request was measured and is so small that one
// pair of runs shows whether a change alters it.
func (n WorkNoise) Known() bool {
	p, ok := n[AllCPU]
	return ok && p.SD()*stats.StudentQuantile((1+workLevel)/2, p.DF) <= knownWithin
}

// What is known of the noise of work before it is measured: its standard deviation, and how
// many degrees of freedom that counts as.
const (
	UsualMoves   = 0.01
	usualMovesDF = 3
)

// LearnWork estimates the noise of work from series of runs of one state each, as the calibration,
// and from the arms of trials, each around its own mean.
func LearnWork(series [][]*iikanji.Run, trials ...[]Pair) WorkNoise {
	squares, df := map[string]float64{}, map[string]float64{}
	add := func(runs []*iikanji.Run) {
		var works []map[string]float64
		for _, r := range runs {
			works = append(works, Work(r))
		}
		usual := MeanWork(works)
		moved := map[string][]float64{}
		for _, w := range works {
			for name, m := range WorkMoved(w, usual) {
				moved[name] = append(moved[name], m)
			}
		}
		for name, m := range moved {
			if len(m) > 1 {
				squares[name], df[name] = squares[name]+stats.SumSquares(m), df[name]+float64(len(m)-1)
			}
		}
	}
	for _, runs := range series {
		add(runs)
	}
	for _, pairs := range trials {
		var a, b []*iikanji.Run
		for _, p := range sift(Case{Pairs: pairs}).pairs {
			a, b = append(a, p.A), append(b, p.B)
		}
		add(a)
		add(b)
	}
	noise := WorkNoise{}
	for name, ss := range squares {
		n := df[name] + usualMovesDF
		noise[name] = stats.Prior{Var: (2*ss + usualMovesDF*UsualMoves*UsualMoves) / n, DF: min(n, stats.MaxPriorDF)}
	}
	return noise
}

// A WorkSays is what pairs say of the work of a request.
type WorkSays struct {
	// Idle: no work is another one with the change. Saves: some is less, and none is more.
	Idle, Saves bool
}

// Limits of what pairs say of work.
const (
	LeastMove   = 0.01 // the least move that counts
	knownWithin = 0.02 // half of the 90 % interval of the CPU time of all services, at most
	moveLevel   = 0.01 // one-sided, that some work is less or more
)

// WorkSays is what pairs say of the work of a request with the change.
func (j Judge) WorkSays(pairs []Pair) WorkSays {
	var says WorkSays
	moved := map[string][]float64{}
	pairs = sift(Case{Pairs: pairs}).pairs
	for _, p := range pairs {
		for name, m := range WorkMoved(Work(p.B), Work(p.A)) {
			moved[name] = append(moved[name], m)
		}
	}
	all := moved[AllCPU]
	if len(pairs) == 0 || len(all) != len(pairs) {
		return says
	}
	less, more := false, false
	for name, d := range moved {
		if m := stats.Moderate(d, j.Work.Of(name)); len(d) == len(pairs) {
			less = less || m.Upper(moveLevel) < 0 && m.Mean <= -LeastMove
			more = more || m.Lower(moveLevel) > 0 && m.Mean >= LeastMove
		}
	}
	m := stats.Moderate(all, j.Work.Of(AllCPU))
	within := m.Upper((1-workLevel)/2) - m.Mean
	says.Saves = less && !more
	says.Idle = !less && !more && within <= knownWithin && max(m.Mean, -m.Mean) <= LeastMove
	return says
}

// Factors on the odds of a gain by what the work of a request says. Of changes that have a gain
// nearly all save work; a pool or a lock is an exception.
const (
	idleOdds  = 0.1
	savesOdds = 3
	costsOdds = 0.3
)

// Odds is the factor on the odds of a gain.
func (w WorkSays) Odds() float64 {
	switch {
	case w.Idle:
		return idleOdds
	case w.Saves:
		return savesOdds
	}
	return 1
}

// WorkOdds is the factor on the odds of a gain of a change that saves work, or costs some, with
// these probabilities.
func WorkOdds(saves, costs float64) float64 {
	return saves*savesOdds + (1-saves)*(costs*costsOdds+(1-costs)*idleOdds)
}

// WithOdds is a probability whose odds have a factor.
func WithOdds(p, factor float64) float64 { return p * factor / (p*factor + 1 - p) }
