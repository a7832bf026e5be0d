// Package tree copies whole folders between hosts: data of a server that has ended, the
// source of an app.
//
//  1. A copy has the names, modes, owners, times and bytes of the source. Owners are those
//     of the same name where the other host knows the name. Extended attributes, holes and
//     hard links are not kept: two names of one file become two files.
//  2. A copy that was interrupted goes on: what is there with the same size and time is not
//     sent again. What the source does not have is removed.
//  3. The receiver computes a digest of each file from what it has on disk, and compares it
//     with the sender's, before the copy counts.
//  4. Bytes go from one host to the other over TLS, with a certificate for this copy alone;
//     its hash and a token go through the caller's own connections. Where the hosts cannot
//     reach each other, the bytes go through the caller.
package tree
