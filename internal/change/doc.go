// Package change does one thing to a site and can always take it back.
//
// Kinds plan, one executor acts. A kind reads the state once and returns a
// Change whose Do and Undo are data: whole files to write or remove, services
// to reload or restart. The executor performs them, with the journal ahead.
//
// It does not choose what to change (package loop), does not judge whether it
// helped, and touches the site only through Hands.
//
// The life of a change:
//
//  1. a Kind plans it from one reading, and has a scratch copy of it judged by
//     the server or the compiler (scratch.go, compile.go); Check proves from the
//     data alone that Undo leads back to the bytes that were read;
//  2. Executor.Apply refuses a ground that has moved since, writes "applying",
//     then each operation before and after it is performed, then "applied";
//  3. whatever goes wrong on the way (an error, Ctrl-C) is undone at once;
//  4. Keep or Revert ends it;
//  5. after kill -9 Recover undoes what was half done: an operation writes a
//     whole state, so that performing it twice is performing it once. Scratch
//     copies of a plan that was killed go with the next plan, or with Sweep.
package change
