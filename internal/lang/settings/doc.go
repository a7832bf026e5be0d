// Package settings reads where an app connects to a database of MySQL's family from its
// settings: files with variables (YAML, TOML, Prisma's schema, JSON) and the statements of PHP,
// Python, Ruby and JavaScript that hold them.
//
//  1. scan.go cuts a script into words, texts and operators.
//  2. expr.go evaluates an expression of settings: texts, tables, variables of the
//     environment with their defaults, names that are assigned once.
//  3. php.go, python.go, ruby.go and node.go know which calls and names hold a connection.
//
// No function of the app is run, and no statement of control. What an expression leaves
// open is Missing, with its place: a person is asked. Go apps are read by package goapp.
// The source is hostile input: nesting, steps and lengths are bounded.
package settings
