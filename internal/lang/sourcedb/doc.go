// Package sourcedb finds the connections to databases of MySQL's family in the source of
// an app, and evaluates how it spells them: with variables of the environment and their
// defaults, constants, helper functions and formats.
//
//  1. A reader for each language makes the same small tree of a file (golang.go through
//     go/ast, braces.go for JavaScript, TypeScript and PHP, python.go, ruby.go; yaml.go
//     for database.yml and the files of docker compose).
//  2. One evaluator runs these trees (run.go, call.go). It knows few functions: those
//     that read variables, join and format texts. All others have unknown results.
//  3. Calls and values that connect to a database are collected (sink.go).
//
// Nothing of the source is executed outside of this evaluator, which has no I/O and
// bounds on steps, depth and length of texts: the source is hostile input.
package sourcedb
