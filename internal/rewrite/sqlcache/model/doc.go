// Package model checks a cache of SQL answers against its promise. Clients read
// and write a small table through the cache, with transactions, failures, killed
// and abandoned connections, and programs that write past the cache. What each
// call gave is a history; the history of each row must be linearizable: some order
// of the calls, which keeps the order of calls that did not overlap, explains every
// answer.
package model
