// Package contest is the contest file and its clock. It is pure: no clock, no I/O.
//
//  1. [Parse] reads the file; a mistake has its line (parse.go, values.go, read.go, rules.go).
//  2. [Contest.Calendar] lists what happens when, in the contest's zone (calendar.go);
//     [Compare] lists what a second file changes (compare.go).
//  3. A [Clock] is the time table of a round after the acts on it: shift, pause, resume,
//     extend, extra, reveal (clock.go). No act changes a past time.
//  4. [Move] checks a transition of a round's state (state.go).
package contest
