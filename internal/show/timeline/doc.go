// Package timeline reads the raw files of a run: the samples of the load
// generator, the seconds of runs without samples, and the slow logs.
//
//  1. [SecondsOf] is a run by second: answers, errors, latency bands, query time, CPU.
//     [SaveSeconds] writes the seconds of a run that keeps no samples.
//  2. [Slowest] lists the slowest requests.
//  3. [Learn] fits a [Model] of a run: which routes send a digest, how often, at which
//     part of a request, and which digests follow each other on a connection in one
//     request.
//  4. [Of] is one request with its statements.
//
// No log contains which request sent a statement. A statement is certain if only
// this request was in flight at each time at which the statement can have run, or
// at which its transaction can have run: a connection serves one request for the time
// of a transaction. Work that an app does without a request cannot be told from it.
// The other statements have a probability by the model; likely and possible are ranges
// of it, which bench/join measured on labelled logs.
//
// Raw files of old runs may be removed; the error is then fs.ErrNotExist.
package timeline
