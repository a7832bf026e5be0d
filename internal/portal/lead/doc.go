// Package lead decides what happens in a portal: it creates jobs, gives them to workers,
// and accepts exactly one result of each. Every decision is one SQL transaction; the carrier
// only carries offers, leases and events, and may lose all of them.
//
//  1. A [Core] has the acts that any node does: enqueue, cancel (enqueue.go), claim and
//     heartbeat (claim.go), finish (finish.go), acts on clocks (clock.go), messages (say.go).
//  2. A [Leader] has the acts of the one leader: relay the outbox (relay.go), offer jobs to
//     waiting slots (dispatch.go), judge lost leases (scan.go), move rounds by time (timers.go).
//     [Leader.Run] elects (leader.go); each transaction compares the leader's term first, so
//     that a leader that was paused writes nothing.
//
// Invariants: I1 one open job per round and team (primary key of open_jobs). I2 one attempt
// loads a site (leases). I3 only the current epoch of a job writes. I4 one result row per job.
// I5 each event is written in the transaction of its cause, and applied once by its number.
package lead
