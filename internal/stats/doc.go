// Package stats is the arithmetic of deciding from few noisy numbers: Student's
// t, moderated variances, group-sequential looks, exact tests, control charts
// and rank correlation.
//
// It imports no package of iikanji, reads no clock, draws no random number and
// holds no state. It decides nothing: the thresholds that make a change worth
// keeping are in the package that judges trials.
//
// Its files:
//
//  1. sample.go, student.go: means, variances, the t distribution
//  2. moderated.go: paired differences, the noise prior, the moderated t
//  3. looks.go: the sizes at which to look, and the level of each look
//  4. power.go, predict.go: pairs needed, and the range of one more run
//  5. signflip.go: a test that assumes symmetry only
//  6. ewma.go, shrink.go: drift, the winner's curse
//  7. kendall.go: whether short runs rank candidates as full runs do
//
// Rank tests (Mann-Whitney) are absent on purpose: with fewer than six values a
// side their smallest p-value is above the level of a look.
package stats
