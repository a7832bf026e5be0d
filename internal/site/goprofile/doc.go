// Package goprofile profiles the CPU of a Go app during an observed run.
//
//  1. A Probe is a file that is added to the app's main package for the run. It waits
//     at a unix socket, and profiles from the begin to the end of a connection
//     (probe.go). It is not part of the app's own HTTP server.
//  2. A Session is such a connection, held over the load (session.go).
//  3. Functions reads the profile: the CPU time of the app's own functions, with what
//     they call, and of the packages below them (functions.go).
package goprofile
