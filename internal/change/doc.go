// Package change makes one change to a site and can always undo it.
//
// Kinds plan, one executor acts. A kind reads the state once and returns a
// Change whose Do and Undo are data: whole files to write or remove, statements,
// services to reload or restart. The executor performs them after it has written
// them to the journal. Kinds declare their acts: help, arguments, beliefs (act.go).
//
// It does not choose changes (package tune), does not judge their effect (package
// judge), and changes the site only through Hands.
//
// The life of a change:
//
//  1. a Kind plans it from one reading, and tests a scratch copy with the server or
//     the compiler (scratch.go, compile.go); Check proves from the data alone that
//     Undo leads back to the bytes that were read;
//  2. Executor.Apply refuses if a place was edited since, writes "applying" to the
//     journal, then each operation before and after it is performed, then
//     "applied";
//  3. after an error or Ctrl-C on the way, the change is undone at once;
//  4. Keep or Revert ends it;
//  5. after kill -9, Recover undoes interrupted changes: an operation writes a
//     whole state, so that it can be repeated. The next plan, or Sweep, removes
//     scratch copies of a plan that was killed.
package change
