// Package bench is the load engine: it runs a [scenario.Scenario] against a
// target and returns an [iikanji.Run]. It is independent of arenas and starts no
// service.
//
//  1. [Run] pins the generator to its cores and makes the scenario's session.
//  2. Prepare, Load and Validate run in this order, each under its own context.
//  3. Actors (closed loops and scheduled arrivals) send requests through browsers:
//     clients of HTTP/1.1 and HTTP/2 on raw connections, with cookies and a private cache.
//  4. Every exchange is counted in a shard and, with Options.SamplesDir, kept as a raw [Sample].
//  5. The generator measures its own CPU, wake-up lag and ports. A run that it limited is void.
//  6. Shards are merged, faults grouped, the score and the outcome computed.
package bench
