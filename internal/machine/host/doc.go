// Package host contains every access of iikanji to a machine: commands, files,
// signals, connections.
//
// It does not supervise processes (package stack does) and makes no decisions.
//
//  1. Host is the interface; Local is this machine, Fake a machine for tests.
//  2. Exec runs a command to its end, together with its child processes.
//  3. Write replaces a file so that no reader sees half of it and no crash or full
//     disk leaves half of it; Remove removes a file durably.
//  4. SQL opens a pool to a database server through the host's Dial.
//  5. Quote and QuoteAll write words for the host's shell.
package host
