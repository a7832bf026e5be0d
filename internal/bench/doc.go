// Package bench is the load engine: it runs a [scenario.Scenario] against a
// target and yields an [iikanji.Run]. It knows no arena and starts no service.
//
//  1. [Run] pins the generator to its cores and makes the scenario's session.
//  2. Prepare, Load and Validate run in this order, each under its own context.
//  3. Actors (closed loops and scheduled arrivals) send through browsers: an
//     HTTP/1.1 client of our own on raw connections, with cookies and a private cache.
//  4. Every exchange is tallied in a shard and, where asked for, kept as a raw [Sample].
//  5. The generator watches itself: CPU, wake-up lag, ports. If it was the limit, the run is void.
//  6. Shards are merged, faults grouped, the score computed, the outcome judged.
package bench
