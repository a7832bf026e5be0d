// Package ddl plans changes of indexes: add one, drop one, replace one by
// another, or add a column that the server computes from others, with an index
// (column.go). It changes the table and, on request, also the schema file that the
// benchmark's initialize loads, so that the index survives initialize.
//
// It does not choose indexes (diagnose does), alters no data and no column of the app, and
// makes no FULLTEXT index. It drops a unique index only when another one
// enforces the same rule: after a row has broken the rule, the drop could not be
// undone.
//
// Steps of a plan:
//
//  1. read the table's definition with SHOW CREATE TABLE (definition.go), and
//     derive the change (statement.go);
//  2. try the change and its undo on an empty copy in a scratch database
//     (scratch.go): the definition after the ALTER is the one that the undo
//     expects; the definition after the undo must equal the original one to the
//     byte; the server reports whether both run online, while others write;
//  3. for the schema file: find the files that create the table among those
//     that initialize loads (schemafile.go), cut them into statements
//     (packages sqltext and sqlschema), and execute these in the scratch database
//     (load.go): exactly one file must give the table's present definition;
//  4. edit that file losslessly (fileedit.go): in place in CREATE TABLE, or with
//     a statement after the last one that defines the table. The first edit that
//     gives the definition after the ALTER is taken; without one, planning fails;
//  5. return the edit and the ALTER as one Change.
//
// Both ways give the same definition. A table that initialize created from the
// edited file is therefore in the state after the change, and Revert and Recover
// accept it. The tuner calls Wiped after a run, and plans again with
// IntoSchemaFile.
//
// SQLite files (files.go) are planned in the same way, in a database in memory, and
// altered in three places, in this order:
//
//   - the schema file from which the app makes new files;
//   - the originals that initialize copies: each is replaced by an altered copy, and
//     the undo restores the original file itself, to the byte;
//   - the live files: one transaction for each. The undo restores their definitions,
//     as of MariaDB's tables, not their bytes, which the app writes meanwhile. Files
//     that the app made or replaced since are altered back, too.
//
// Note: the server puts an index that an undo adds again after the others of its
// sort in SHOW CREATE TABLE. The undo therefore also drops and adds the indexes
// that followed it. A plan that is killed leaves the scratch database, with empty
// tables; the next plan drops it.
package ddl
