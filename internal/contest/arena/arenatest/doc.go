// Package arenatest is the conformance suite of arenas. An arena must pass it
// before it is used for practice or for judging changes.
//
// The package is for tests only and contains nothing particular to one arena. Each
// arena's own test calls [Suite] with the faults that are particular to that
// arena.
//
//  1. The arena comes up on the real servers ([stack.Up]).
//  2. The unchanged app passes with a score above 0.
//  3. Initialize can be called again, and the checks pass again.
//  4. The same seed offers the same work; another seed offers other work.
//  5. Each planted [Fault] is caught by the check that it belongs to, and by
//     no other check. A fault is planted by a [Proxy] between benchmarker and
//     app that corrupts the traffic, or by an edit of the app's source. A check
//     that has never failed proves nothing.
package arenatest
