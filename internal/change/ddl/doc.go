// Package ddl plans changes of indexes: add, drop, replace one by another.
//
// It does not choose indexes (diagnose does) and alters no data and no column.
//
// Steps of a plan:
//
//  1. read the table's definition, SHOW CREATE TABLE (definition.go);
//  2. write the ALTER and the ALTER that takes it back (statement.go);
//  3. try both on an empty temporary copy (trial.go): what the first leaves is
//     what the undo will expect, and what the second leaves must be the definition
//     that was read, to the byte;
//  4. return them as a Change.
//
// Note: an undo that re-adds a dropped index puts it behind the others, where
// SHOW CREATE TABLE shows it, so the undo re-adds those behind it too.
package ddl
