// Package shard lets several generators, processes on one or more machines, offer one load, whose
// measurements become one run.
//
//  1. [Run] starts the generators. Each but the first is a process of this program ([Generate]),
//     which is reached by one stream of bytes, such as that of ssh.
//  2. The first generator initialises the target and makes its checks. Then all begin at one
//     instant: each knows how far its clock is off, from the fastest of eight round trips.
//  3. Every 100 ms each generator tells its counts and gets the sums of the others, so that limits
//     on errors are of all of them, and a fatal fault ends the load of all.
//  4. bench.Merge makes one run of what was measured. If a generator is lost, late or the limit,
//     the whole run is void: there is never a part of a score.
package shard
