// Package search decides what a search does next. Next is pure: it reads no clock, does no
// I/O and knows no host. Its State is what was run and what it showed (the ledger), the
// candidates of the diagnosis, and the time; a Step is what to do, and why. Package tune
// performs the steps and adds their results to the state.
//
// Its files are layers: a file uses those below it, and hardly any above (TestArrows).
//
//   - next.go: the phases of a search: measure, explore
//   - end.go: the end phase: logs, drop-one checks, the last comparison
//   - longchecks.go: full runs without each kept change
//   - checks.go, checkgroups.go: the drop-one checks, which pay the debts of a search, one by one and in groups
//   - bundlesum.go: what the trial of a bundle says of its parts
//   - undertrial.go: whether the trial, screening or check under way goes on
//   - design.go, designwork.go: the runs of a design of several candidates, and what they say of each
//   - choose.go: which candidate is next
//   - leaders.go, sweep.go, groups.go, needs.go: which candidates are tried together: large ones, sweeps, bundles, screenings
//   - tried.go: whether a candidate waits, was tried, or is worth it
//   - rank.go, again.go: what a candidate promises now, after other trials
//   - learn.go: what a diagnosis and kept changes mean for the candidates
//   - forecast.go, timeplan.go: what is announced
//   - lengths.go: which length of runs teaches most
//   - budget.go: how the time is divided
//   - keeps.go, aftermath.go: the kept changes, how well each is proven, and their runs since
//   - step.go: what a step is
//   - state.go: what a state is
//   - ledger.go: what outlives a search
//   - wire.go: attempts in JSON, also those of the first version
//   - attempt.go, part.go, candidate.go: the words
//   - options.go, constants.go: the bounds of a search, and the numbers set by hand
package search
