// Package tune searches for changes that make a site faster, and keeps what
// interleaved runs prove (docs/method.md describes the method to users).
//
// It drives: package search decides which step is next, package trial makes the runs,
// package judge decides what they prove, package change changes the site. A Tuner performs
// each step, writes it down, and asks for the next one.
//
// Its files are layers: a file uses those below it, and hardly any above (TestArrows of
// package search).
//
//   - tune.go, climb.go, aatrials.go: whole searches, single trials, ladders, A/A trials
//   - begin.go, record.go: how a search begins, and what it leaves
//   - ending.go: drop-one checks, rehearsal and last comparison
//   - screening.go: the runs of a factorial design
//   - confirming.go: the decision on a change that the fast lane let in
//   - trying.go: trials of one candidate or of several as one
//   - answers.go: the answers of two builds, compared before a trial
//   - placing.go: where services may run, by the model of placements
//   - observing.go: the candidates of a diagnosis
//   - measuring.go, lengths.go: the noise, and the length of runs
//   - tuner.go: what a Tuner is, and the outcome
//   - plan.go: changes of candidates
//   - candidates.go: expected gains
//   - runner.go: one run
//   - resume.go, takeback.go: the state of an earlier search; changes taken back
//   - hands.go: the site, by the executor
//   - display.go: what a search shows
//   - book.go: what is known: the ledger and the runs
//   - field.go, store.go: what a search needs of its site and its history
package tune
