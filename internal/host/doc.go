// Package host performs every effect of iikanji on a machine, and every read of
// one: commands, files, signals, connections.
//
// It supervises no process (package stack does) and takes no decision.
//
//  1. Host is the interface; Local is this machine, Fake a machine for tests.
//  2. Exec runs a command to its end, with all of its children.
//  3. Write replaces a file so that no reader, crash or full disk leaves half
//     of it; Remove removes a file for good.
//  4. SQL opens a pool to a database server through the host's Dial.
package host
