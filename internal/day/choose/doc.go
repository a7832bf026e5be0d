// Package choose tells which state of a site to end a contest with. A state with the
// highest score may pass one run in three; the run that counts is one that nobody has
// seen yet. For each state it computes the chance that the next run passes, the chance
// that this run repeats the score that is registered, and what the state is worth: the
// score times both. docs/method.md has the formulas. The package is pure.
package choose
