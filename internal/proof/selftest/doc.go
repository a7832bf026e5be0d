// Package selftest measures the error rates of the method (docs/method.md) on
// simulated runs whose truth is known.
//
//   - world.go: the noise of a simulated machine
//   - trial.go: one trial by the judge, without a tuner
//   - field.go, store.go: a simulated site for the real tuner, with a clock of
//     its own and a history in memory
//   - truth.go, stack.go: what the states of a site score
//   - candidate.go: its candidates
//   - search.go: whole searches
//   - result.go, tally.go, row.go: what is counted of them
//   - kinds.go: kinds of searches whose changes do not interact
//   - scenes.go: sites under several limits of time, by name. interplays.go has those whose
//     changes interact, longruns.go few long runs, several searches and ladders, machines.go
//     machines that break the assumptions, changes.go changes of special kinds, random.go
//     sites that are drawn, twolimits.go ordinary ones among them
//   - goals.go, scenegoals.go: the limits that the method must keep
//   - cost.go: how many pairs an effect costs
//
// A simulation uses the same judge and the same tuner as a real search; no rule
// is written twice.
package selftest
