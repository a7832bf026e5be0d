// Package slowlog turns what databases say of their statements into Profiles
// by digest: slow logs of MariaDB, MySQL and Percona Server, digests of
// performance_schema, and traces of SQLite as JSON lines.
//
//  1. [Read] finds out the format of each log and lets package lines cut it
//     into blocks of whole entries;
//  2. workers parse blocks into batches of events: header lines, then the
//     statement, fingerprinted by a [Fingerprinter];
//  3. a sequencer hands the batches, in the order of the log, to one fold:
//     digests, transactions of threads, repetition, prepare churn;
//  4. the fold becomes a Profile.
//
// Parsing is nine tenths of the work and runs on all cores; folding in order
// is what makes the result depend on nothing but the bytes, though what a
// statement means for its thread depends on what came before.
//
// Note: workers with tallies of their own, merged at the end, would fold in
// parallel too, but a transaction that crosses a block would have to be sewn
// together, and which digests a full table keeps would depend on the blocks.
//
// It gives no advice and opens no connection of its own.
package slowlog
