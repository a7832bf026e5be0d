package selftest

import (
	"slices"
	"time"
)

// machineScenes are nulls, and nulls with three gains, on machines that break the
// assumptions.
func machineScenes() []Scene {
	nulls := func(w World) Search { return Search{World: w, Candidates: candidates(15, 0), Options: options(0)} }
	gains := func(w World) Search {
		return Search{World: w, Candidates: slices.Concat(candidates(3, 0.12), candidates(12, 0)), Options: options(0)}
	}
	noisier := nulls(three)
	for k := range noisier.Candidates {
		noisier.Candidates[k].Noise = []float64{2, 2.5, 3}[k%3]
	}
	noisy := gains(three)
	noisy.Candidates = slices.Clone(noisy.Candidates)
	for k := range noisy.Candidates {
		noisy.Candidates[k].Noise = []float64{1, 2, 3}[k%3]
	}
	return []Scene{
		scene("nulls", "15 nulls; 5 % noise", nulls(World{Sigma: 0.05}), quarter, hour, noLimit),
		scene("third-run",
			"every third run loses 30 %; 15 nulls; 5 % noise",
			nulls(World{Sigma: 0.05, EveryThird: 0.3}), shortAndLong...),
		scene("third-run-gains",
			"every third run loses 30 %; 3 x +12 %, 12 nulls; 3 % noise",
			gains(World{Sigma: 0.03, EveryThird: 0.3}), shortAndLong...),
		scene("sine",
			"a sine of 10 % with a period of 13 to 60 s; 15 nulls; 2 % noise",
			nulls(World{Sigma: 0.02, Sine: 0.1}), shortAndLong...),
		scene("sine-26s",
			"a sine of 10 % with a period of 26 s; 15 nulls; 2 % noise",
			nulls(World{Sigma: 0.02, Sine: 0.1, Period: 26 * time.Second}), shortAndLong...),
		scene("sine-39s",
			"a sine of 10 % with a period of 39 s; 15 nulls; 2 % noise",
			nulls(World{Sigma: 0.02, Sine: 0.1, Period: 39 * time.Second}), shortAndLong...),
		scene("sine-52s",
			"a sine of 10 % with a period of 52 s; 15 nulls; 2 % noise",
			nulls(World{Sigma: 0.02, Sine: 0.1, Period: 52 * time.Second}), shortAndLong...),
		scene("noisier", "15 nulls with each of which the noise is x 2 to 3; 3 % noise", noisier, shortAndLong...),
		scene("noisier-trials",
			"15 nulls; runs of candidates have 2.5 x the noise of 3 %",
			nulls(World{Sigma: 0.03, Candidate: 2.5}), shortAndLong...),
		scene("noisier-gains",
			"3 x +12 %, 12 nulls, with two thirds of which the noise is x 2 to 3; 3 % noise",
			noisy, shortAndLong...),
		scene("bursts",
			"3 % noise, and 25 % more in runs of 10 s, of which a run of 30 s has a third; +60 %, 2 x +30 %, 9 nulls",
			Search{World: World{Sigma: 0.03, Bursts: 0.25}, Options: options(0),
				Candidates: slices.Concat(candidates(1, 0.6), candidates(2, 0.3), candidates(9, 0))}, shortAndLong...),
		scene("modes",
			"two modes 10 % apart; 3 x +12 %, 12 nulls; 2 % noise",
			gains(World{Sigma: 0.02, Modes: 0.10}), shortAndLong...),
		scene("steps",
			"scores in steps of 5 %; 3 x +12 %, 12 nulls; 3 % noise",
			gains(World{Sigma: 0.03, Step: 0.05}), shortAndLong...),
		scene("steps-quiet",
			"scores in steps of 5 %; 3 x +12 %, 12 nulls; 1 % noise",
			gains(World{Sigma: 0.01, Step: 0.05}), shortAndLong...),
		scene("noiseless", "whole scores without noise; 3 x +12 %, 3 x -8 %, 9 nulls", Search{World: World{Whole: true},
			Candidates: slices.Concat(candidates(3, 0.12), candidates(3, -0.08), candidates(9, 0)),
			Options:    options(0)}, shortAndLong...),
	}
}
