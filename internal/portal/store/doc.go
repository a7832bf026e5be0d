// Package store keeps a portal in SQL: SQLite, MariaDB (MySQL) or PostgreSQL, by one set of
// statements in a portable subset. SQL is the truth of a portal; what travels elsewhere can be
// made again from it.
//
//  1. [Open] opens a database and brings its schema up to date (open.go, schema.go). A schema of
//     a newer program is refused.
//  2. [Store.Write] runs one transaction. SQLite has one writer, which groups the writes that
//     wait into one commit, a savepoint each, and answers after the commit (write.go).
//  3. [Store.Read] reads a consistent state (tx.go).
//  4. Changes of a state are compare-and-set: an UPDATE with the old state in its WHERE, and
//     the number of rows it changed.
//  5. [Store.Dump] writes a backup that has no word of an engine (dump.go), and [Load] fills a new
//     database with one and reads it back (load.go). Tables and their columns are read from the
//     steps of the schema (tables.go).
//
// Times are BIGINT microseconds since 1970, UTC; 0 is never.
package store
