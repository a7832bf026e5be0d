// Package judging is the final judging: the rule of a round, the chance to pass it, the plan
// of its runs, and what a rejudge or a disqualification changes. It is pure: no clock, no
// I/O, and random choices come from a seed.
//
//  1. [Decide] is the verdict on a team by the rule (verdict.go); [Sentence] is the rule in
//     one sentence and [Chance] the chance of a team (chance.go).
//  2. [Blocks] plans the runs: each block has all teams once, in random order (plan.go).
//  3. [Preview] lists the ranks that judgements would move (preview.go).
//  4. [Disqualification] is an act of two staff members (disqualify.go).
package judging
