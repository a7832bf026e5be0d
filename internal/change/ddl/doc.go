// Package ddl plans changes of indexes: add, drop, replace one by another; on
// the table, and where asked also in the schema file that the benchmark's
// initialize loads, so that they outlive it.
//
// It does not choose indexes (diagnose does), alters no data and no column,
// makes no FULLTEXT index, and drops a unique one only where another keeps the
// same rule: once a row has broken it, that could not be undone.
//
// Steps of a plan:
//
//  1. read the table's definition, SHOW CREATE TABLE (definition.go), and the
//     change that is wanted (statement.go);
//  2. try it on an empty copy in a scratch database, there and back
//     (scratch.go): what the ALTER leaves is what the undo will expect, what the
//     undo leaves must be the definition that was read, to the byte, and the
//     server says whether it does both while others write;
//  3. into the schema file: find the files that create the table among those
//     that initialize loads (schemafile.go), cut them into statements
//     (sqltext.go, tablestatement.go), and have the server make the table by them
//     in the scratch database (load.go): one must make it as it is;
//  4. edit that file losslessly (fileedit.go): in place in CREATE TABLE, or by a
//     statement behind the last one that defines the table. The first edit of which
//     the server makes what the ALTER leaves is taken; if none, there is no plan;
//  5. return the edit and the ALTER as one Change.
//
// As both ways give the same definition, a table that initialize made anew from
// the edited file is as the change left it: Revert and Recover accept it. The
// tuner calls Wiped after a run, and plans again with IntoSchemaFile.
//
// Note: an undo that re-adds a dropped index puts it behind the others, where
// SHOW CREATE TABLE shows it, so the undo re-adds those behind it too. A plan
// that is killed leaves the scratch database, empty, to the next one.
package ddl
