// Package sim runs a whole contest in seconds: the real rooms of the portal on a real database,
// with a clock that jumps from event to event, teams that behave by a seed, and workers that
// die, fall silent and send results twice.
//
//  1. [Run] simulates and checks the invariants all the time (run.go, check.go).
//  2. [Report] tells what was measured: waits, fairness, how good the expected starts were
//     (report.go).
package sim
