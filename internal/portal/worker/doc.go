// Package worker runs jobs of a portal: it asks for one, runs its benchmarker as a child, tells
// how it goes, and delivers the result.
//
//  1. A [Worker] has slots; each asks for a job and makes one attempt after the other
//     (worker.go, attempt.go). The client of the portal is in client.go.
//  2. A benchmarker is one of three kinds: an arena of iikanji (arena.go), a command that
//     reports lines or whose output is read (command.go, lines.go), or one that speaks the
//     isuxbench contract (frames.go).
//  3. A guard, a process of its own, owns the benchmarker's processes (guard.go, held.go). It
//     ends them when the worker is gone, is stopped, or has no answer of the portal: two
//     attempts never load one site.
//  4. A result is on the disk before it is sent, and sent until it is accepted, also after a
//     restart of the worker (spool.go).
package worker
