// Package timeline reads the raw files of a run: the samples of the load
// generator and the slow logs.
//
//  1. [SecondsOf] is a run by second: answers, errors, latency bands, query time.
//  2. [Slowest] lists the slowest requests.
//  3. [Of] is one request with its statements.
//
// No log contains which request sent a statement. A statement is certain if only
// this request was in flight at each time at which the statement can have run, or
// if it is in one transaction, on one connection, with such a statement. Work that
// an app does without a request cannot be told from it. A statement is likely if
// the request's route sends such statements (see package attribute) and at most a
// few requests of such routes were in flight, or if at most a few requests were.
// It is possible if its route sends such statements and more requests were in flight.
//
// Raw files of old runs may be removed; the error is then fs.ErrNotExist.
package timeline
