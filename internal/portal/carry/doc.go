// Package carry carries what a portal's parts tell each other: offers of jobs, events,
// progress, leases. Nothing is only here: SQL is the truth, and every stream and bucket may be
// emptied or deleted at any instant (docs/adr/0031-sql-is-the-truth-of-the-portal.md).
//
//  1. A [Carrier] has streams, with work queues and subscriptions, and buckets of keys that
//     expire (carry.go).
//  2. [NewMemory] is one in memory, with a clock that is passed in, for simulations and tests
//     (memory.go).
//  3. [Embedded] is a NATS server inside the process, without a listener (embedded.go); the
//     client is in jetstream.go. It makes a stream or bucket again that was deleted.
//  4. [Clustered] is such a server as one of three, which reach each other (peers.go).
package carry
