// Package selftest measures the error rates of the method (docs/method.md) on
// simulated runs whose truth is known.
//
//   - world.go: the noise of a simulated machine
//   - trial.go: one trial by the judge, without a tuner
//   - field.go, store.go: a simulated site for the real tuner, with a clock of
//     its own and a history in memory
//   - search.go: whole searches and what is counted of them
//   - goals.go: the limits that the method must keep
//
// A simulation uses the same judge and the same tuner as a real search; no rule
// is written twice.
package selftest
