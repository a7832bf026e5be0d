// Package arenatest is the conformance suite of arenas: what every arena must
// hold before anybody may practise on it or be judged by it.
//
// It is for tests only and knows no arena: each arena's own test is a shim
// that calls [Suite] with the faults that are particular to it.
//
//  1. The arena comes up on the real servers ([stack.Up]).
//  2. The untouched app passes with a score above 0.
//  3. Initialize can be called again, and the checks pass again.
//  4. One seed offers the same work, another seed other work.
//  5. Each planted [Fault] is caught, by the check that it belongs to and by
//     no other: by a [Proxy] between benchmarker and app that corrupts the
//     traffic, or in the app's own source. A check that never failed is not a check.
package arenatest
