// Package slowlog turns statement logs of databases into Profiles by digest:
// slow logs of MariaDB, MySQL and Percona Server, digests of performance_schema,
// and traces of SQLite as JSON lines.
//
//  1. [Read] detects the format of each log. Package lines cuts the log into
//     blocks of whole entries.
//  2. Workers parse blocks into batches of events: header lines, then the
//     statement, fingerprinted by a [Fingerprinter].
//  3. A sequencer passes the batches, in the order of the log, to one collector:
//     digests, transactions of threads, repetition, prepares.
//  4. The collector returns a Profile.
//
// Parsing takes nine tenths of the time and uses all cores. Collecting in order
// makes the result depend on the bytes only, although the meaning of a statement
// for its thread depends on the statements before it.
//
// Rejected: one collector per worker, merged at the end. Transactions that cross
// a block would have to be joined, and which digests a full table keeps would
// depend on the blocks.
//
// The package gives no advice and opens no connection.
package slowlog
