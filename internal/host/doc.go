// Package host is the only hands: what iikanji runs, reads and writes on a
// machine goes through it.
//
// It is not a process supervisor (that is stack) and decides nothing: it does
// what it is told on the one machine it is bound to, whole or not at all.
//
//  1. Exec runs a command to its end, with all of its children.
//  2. Read reads a file.
//  3. Write replaces a file so that a reader, a crash or a full disk never
//     leaves half of it.
//  4. Remove removes a file.
//
// Only this machine is there so far. An executor that performs iikanji.Op will
// want the same three on machines behind SSH: an interface is due when there
// is a second kind of host, not before.
package host
