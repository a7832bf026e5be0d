package selftest

import (
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/proof/search"
)

// Limits of the simulated searches.
const (
	quarter = 15 * time.Minute
	hour    = time.Hour
)

// nulls are searches among 15 candidates that do nothing, on one machine.
func nulls(w World, limit time.Duration) Search {
	return Search{Name: fmt.Sprintf("15 × 0 %%, %s, %s", w.label(), limitText(limit)), World: w, Candidates: candidates(15, 0), Options: options(limit)}
}

// mixed are searches among candidates of two effects.
func mixed(w World, limit time.Duration, n int, poor float64, m int, good float64) Search {
	return Search{Name: fmt.Sprintf("%d × %s, %d × %s, %s, %s", n, effectLabel(poor), m, effectLabel(good), w.label(), limitText(limit)), World: w,
		Candidates: append(candidates(n, poor), candidates(m, good)...), Options: options(limit)}
}

func effectLabel(share float64) string {
	if share == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%+.0f %%", 100*share)
}

func limitText(limit time.Duration) string {
	if limit == 0 {
		return "no limit"
	}
	return fmt.Sprintf("%.0f min", limit.Minutes())
}

// label names a world with its noise.
func (w World) label() string {
	if w.Name == "" || w.Name == "normal" {
		return fmt.Sprintf("%.0f %% noise", 100*w.Sigma)
	}
	return fmt.Sprintf("%s at %.0f %%", w.Name, 100*w.Sigma)
}

// Ladder is a search like that of a real site: few large gains that promise much,
// some of +10 %, and many candidates that do nothing.
func Ladder(w World, limit time.Duration) Search {
	var c []Candidate
	for _, x := range [][2]float64{{1.5, 1.2}, {0.3, 0.5}, {0.10, 0.1}, {0.10, 0.15}, {0.10, 0.08}, {0.10, 0.2}, {0.10, 0.08}} {
		c = append(c, Candidate{Effect: x[0], Promise: x[1]})
	}
	for i := range 12 {
		c = append(c, Candidate{Promise: []float64{0.05, 0.1, 0.3, 0.08}[i%4]})
	}
	return Search{Name: fmt.Sprintf("ladder: × 2.5, +30 %%, 5 × +10 %%, 12 × 0 %%; %s, %s", w.label(), limitText(limit)), World: w, Candidates: c, Options: options(limit)}
}

// LongRuns are searches with the fixed load of 75 s of an outside benchmarker: three
// large gains, five small ones, eight candidates that do nothing and two that harm.
// overhead is the time of a run beyond its load.
func LongRuns(w World, limit, overhead time.Duration) Search {
	const load = 75 * time.Second
	var c []Candidate
	for i := range 3 {
		c = append(c, Candidate{Effect: 0.40, Promise: []float64{0.5, 0.35, 0.2}[i]})
	}
	c = append(append(c, candidates(5, 0.05)...), candidates(2, -0.10)...)
	for i := range 8 {
		c = append(c, Candidate{Promise: []float64{0.05, 0.1, 0.3, 0.08}[i%4]})
	}
	return Search{Name: fmt.Sprintf("runs of %.0f s: 3 × +40 %%, 5 × +5 %%, 8 × 0 %%, 2 × -10 %%; %s, %s", (load + overhead).Seconds(), w.label(), limitText(limit)),
		World: w, Candidates: c, Overhead: overhead, Options: search.Options{Time: limit, Short: load, Full: load, Watch: load, Pairs: 2}}
}

// Searches are the kinds of searches of the self-test.
func Searches() []Search {
	three, five, ten := World{Sigma: 0.03}, World{Sigma: 0.05}, World{Sigma: 0.10}
	all := []Search{
		nulls(five, quarter), nulls(five, hour),
		mixed(three, quarter, 15, -0.03, 0, 0), mixed(ten, quarter, 15, -0.03, 0, 0),
		mixed(three, quarter, 12, -0.03, 3, 0.20), mixed(three, quarter, 12, 0, 3, 0.08), mixed(three, hour, 12, 0, 3, 0.08),
		mixed(five, quarter, 0, 0, 1, 0.15), mixed(five, hour, 0, 0, 6, 0.15),
		Ladder(three, 8*time.Minute), Ladder(three, quarter), Ladder(five, quarter),
	}
	worlds := slices.DeleteFunc(Worlds(), func(w World) bool { return w.Name == "normal" || w.Lucky || w.Sigma == 0.02 })
	for _, w := range append(worlds, World{Name: "10 % faster in the middle", Sigma: 0.05, Faster: true}) {
		w.Sigma = 0.04
		all = append(all, mixed(w, quarter, 8, 0, 3, 0.12))
	}
	six := World{Sigma: 0.06}
	all = append(all, LongRuns(six, quarter, 3*time.Second), LongRuns(six, quarter, 20*time.Second), LongRuns(six, 20*time.Minute, 3*time.Second), LongRuns(six, 20*time.Minute, 20*time.Second))
	flaky := mixed(three, hour, 6, 0, 6, 0.15)
	flaky.Name, flaky.Fails, flaky.Errors = "6 × 0 %, 6 × +15 %, 3 % noise, 3 % of runs fail, 1 % errors, 60 min", 0.03, 0.01
	for i := range all {
		if all[i].Candidates[0].Effect == all[i].Candidates[len(all[i].Candidates)-1].Effect {
			c := all[i].Candidates
			all[i].Name = fmt.Sprintf("%d × %s, %s, %s", len(c), effectLabel(c[0].Effect), all[i].label(), limitText(all[i].Options.Time))
		}
	}
	return append(all, flaky)
}
