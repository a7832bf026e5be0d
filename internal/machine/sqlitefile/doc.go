// Package sqlitefile reads and alters SQLite database files of this machine: which
// files a folder has, how their tables are defined, how a statement is planned, and
// statements that all files of a folder get.
//
//  1. [Find] lists the database files below folders, by the first bytes of each file.
//  2. [Read] opens one file for reading only, and [Reader.Tables] reads its tables.
//  3. [Groups] puts files with the same tables together: a site may keep one file for
//     each of its tenants.
//  4. [Reader.Sample] takes rows in short transactions, and [Reader.Explain] reads a
//     query plan.
//  5. [Alter] executes statements on one table of one file, in one transaction.
//
// The app may have the files open at the same time. A reader takes SQLite's shared
// lock for the time of one statement only, and gives up after a limit. No file is
// opened as immutable: SQLite would then ignore the locks and the write-ahead log of
// a writer, and could read half of a transaction.
package sqlitefile
