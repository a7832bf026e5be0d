// Package tune searches for changes that make a site faster, and keeps what
// interleaved runs prove (docs/method.md describes the method to users).
//
// It neither finds causes (package observe and package diagnose), nor decides
// what the runs prove (package judge), nor changes the site (package change).
// Its parts, each with one job:
//
//   - the queue: the candidates of the latest diagnosis and of earlier ones, and
//     which of them is next (candidates.go, rewrites.go, step.go, queue.go,
//     observe.go);
//   - the evidence: the runs that verdicts rest on, and the noise (state.go,
//     calibrate.go);
//   - the ledger: what a later search on the same history needs (ledger.go,
//     resume.go);
//   - the budget: the time of the search and how it is divided (budget.go);
//   - trials of one change or of a bundle (plan.go, trial.go, arm.go,
//     worthwhile.go, bundle.go), the two states of the site in a trial (arms.go)
//     and the confirmation (confirm.go);
//   - the end phase: drop-one checks (dropcheck.go), the rehearsal and the last
//     comparison (end.go).
package tune
