package stats

import (
	"math/rand/v2"
	"slices"
)

// MinBootstrap is the fewest values a side for [RatioCI]; with five or fewer
// the percentile interval is known to cover too little.
const MinBootstrap = 8

// RatioCI is the percentile bootstrap interval of mean(b)/mean(a) at a
// two-sided level, from resamples draws (Efron and Tibshirani 1993, chapter
// 13). ok is false with fewer than [MinBootstrap] values a side.
func RatioCI(a, b []float64, level float64, resamples int, rng *rand.Rand) (lo, hi float64, ok bool) {
	if len(a) < MinBootstrap || len(b) < MinBootstrap || resamples < 1 {
		return 0, 0, false
	}
	ratios := make([]float64, resamples)
	for i := range ratios {
		ratios[i] = resampledMean(b, rng) / resampledMean(a, rng)
	}
	slices.Sort(ratios)
	at := func(q float64) float64 { return ratios[min(int(q*float64(resamples)), resamples-1)] }
	return at((1 - level) / 2), at((1 + level) / 2), true
}

func resampledMean(x []float64, rng *rand.Rand) float64 {
	sum := 0.0
	for range x {
		sum += x[rng.IntN(len(x))]
	}
	return sum / float64(len(x))
}
