// Package site wires an arena's stack to what kinds of change read and what
// the executor changes: which file is whose configuration, how a service is
// checked, reloaded and restarted, where the source is, and what may be written.
//
// It plans nothing and changes nothing, and it is the one place that knows
// both rooms: change does not know stacks, stack does not know changes.
//
//  1. Files says what follows from the folders alone (files.go);
//  2. Of adds what only a running stack has: a pool to its database and the
//     ways to check, reload and restart (of.go).
package site
