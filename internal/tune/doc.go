// Package loop is one turn of tuning: observe, orient, decide, act, judge.
//
// What stands here so far is how a run is observed and what it teaches, and the
// judge: which runs count, when to look at them, and what they prove
// (docs/method.md tells it to users).
//
// Steps of a diagnosis:
//
//  1. an [Observer] turns the slow log on for the load phase, samples the host
//     and who waits for locks, and cuts all logs to the load (observe*.go);
//  2. each [Sensor] proves that it saw the run, or is red and not used;
//  3. facts are asked for, and [Orient] has package diagnose make findings of
//     it all; [Keep] and [Recall] carry it to another day.
//
// Steps of a trial, as the judge sees them:
//
//  1. Order says which of the two runs of the next pair comes first;
//  2. the pair is run, and voided by the environment guard where something
//     else used the machine;
//  3. Decide sifts the pairs, applies the gates, then looks at the numbers;
//  4. a Verdict without a call names how many further pairs could decide.
//
// The judge is pure: no clock, no I/O, no chance of its own. It undoes nothing
// and plans nothing; "revert" is advice that the executor of package change acts on.
package tune
