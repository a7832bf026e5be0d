// Package scenario is what the author of a load scenario writes: steps,
// events with their points, checks, a ledger of what was written, and up to
// three phases. It knows no engine: package bench runs what is written here.
//
//  1. A [Scenario] says once what it is made of ([Info]: steps, events, score table).
//  2. [Preparer] initialises the target and checks its answers before any load.
//  3. [Loader] starts the actors and returns when the load's context is done.
//  4. [Validator] checks once more after the load.
//
// Within a phase the scenario talks to the engine through its [Session]: it
// asks for [Client]s (a browser each), starts actors, counts events and
// reports faults. Every check returns an error that is a [*Fault]; nothing is
// a fault until it was reported.
package scenario
