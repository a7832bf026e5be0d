// Package stats is the arithmetic of deciding from few noisy numbers: Student's
// t, moderated variances, group-sequential looks, exact and resampling tests,
// control charts, and what to do next with many candidates.
//
// It knows no word of iikanji's, reads no clock and holds no state; chance
// enters only through a *rand.Rand of the caller's. It decides nothing: which
// numbers make a change worth keeping is written in package loop.
//
// What stands where:
//
//  1. sample.go, student.go: means, variances, the t distribution
//  2. moderated.go: differences of pairs, the noise prior, the moderated t
//  3. looks.go: when to look, and how strict a look must be
//  4. power.go, predict.go: how many pairs, and what one more run should give
//  5. signflip.go, bootstrap.go: tests and intervals that assume less
//  6. ewma.go, cuped.go, shrink.go: drift, covariates, the winner's curse
//  7. race.go, kendall.go: many candidates, and short runs against full ones
//
// Note: rank tests (Mann-Whitney) are absent on purpose. With fewer than six
// values a side they cannot reach the strictness of a look at all.
package stats
