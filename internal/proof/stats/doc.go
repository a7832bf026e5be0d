// Package stats is the arithmetic of deciding from few noisy numbers: Student's
// t, moderated variances, group-sequential looks, exact tests, control
// charts and factorial designs.
//
// It imports no package of iikanji, reads no clock, draws random numbers only from a
// generator that is passed in, and
// holds no state. It decides nothing: the thresholds that make a change worth
// keeping are in the package that judges trials.
//
// Its files:
//
//  1. sample.go, student.go, fdist.go, fisher.go: means, variances, distributions,
//     exact tests of counts
//  2. moderated.go, arms.go: paired differences and runs of two arms, the noise
//     prior, the moderated t
//  3. looks.go: the sizes at which to look, and the level of each look
//  4. factorial.go: designs that measure many changes in few runs, and their fit
//  5. power.go, predict.go: pairs needed, and the range of one more run
//  6. signflip.go: a test that assumes symmetry only
//  7. ewma.go: drift
//
// Rank tests (Mann-Whitney) are absent on purpose: with fewer than six values a
// side their smallest p-value is above the level of a look.
package stats
