// Package processes reads the processes and listening sockets of a host from
// /proc: who runs what, as which user, with which environment and open files, and
// which process owns which address.
//
// It changes nothing and decides nothing. Only root sees the environment and the
// sockets of other users' processes; what cannot be read is empty.
package processes
