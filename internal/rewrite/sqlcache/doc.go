// Package sqlcache keeps the answers of SELECT statements in the memory of one
// app process. It wraps a database/sql driver. It imports the standard library
// only, so that a copy of it can live in any app's source.
//
// # Promise
//
// No reader ever sees an older value than the database would have given at some
// moment during the call. The promise holds under these conditions:
//
//   - The app process is the only writer of the tables of the plan. A program
//     that the app starts itself (a mysql client in an initialize request) is
//     announced with Cache.Outside.
//   - All writes of the process go through drivers or connectors of one Cache.
//   - The plan is true: Statement lists what each statement reads and writes,
//     including what triggers and cascading foreign keys write.
//   - A file of SQLite that is replaced while it is open is replaced by a program that
//     is announced.
//   - Values scanned into sql.RawBytes are not modified.
//
// A statement that the plan does not list is safe: it empties the cache, unless
// it can only read.
//
// # How it works
//
// Each table of the plan has counters, called slots: one for every write of the
// table, one for writes that cannot be confined, and, for each key column, one
// for every stripe of its values. A slot holds a version and the number of writes
// in doubt. A write puts its slots in doubt before it is sent. After its answer
// it moves their versions and ends the doubt. An entry stores the state of the
// slots that it depends on, read before its query was sent. The entry is valid
// while all of these slots still have exactly this state. While a slot is in
// doubt, readers ask the database and keep nothing.
//
// In a transaction the cache keeps nothing. Writes of a transaction stay in
// doubt until COMMIT or ROLLBACK is answered. When a connection is lost in the
// middle of a write, its slots stay in doubt until the server has ended the
// connection: the server may still be executing the statement.
package sqlcache
