// Package scenario defines load scenarios: steps, events with their points,
// checks, and up to three phases. It does not depend on the engine: package bench
// runs scenarios.
//
//  1. A [Scenario] describes itself once ([Info]: steps, events, score table).
//  2. A [Preparer] initialises the target and checks its answers before the load.
//  3. A [Loader] starts the actors and returns when the load's context is done.
//  4. A [Validator] checks the target again after the load.
//
// Within a phase the scenario uses the engine through its [Session]: it creates
// [Client]s (one browser each), starts actors, counts events and reports faults.
// Every check returns an error that is a [*Fault]. A fault counts only when it is
// reported.
package scenario
