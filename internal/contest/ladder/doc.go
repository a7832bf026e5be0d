// Package ladder reads the ladder of an arena: the rows of a write-up in their order,
// each a file with the remedies that repeat it.
//
// A file is named NN-name.EXT, and NN is the number of its rung: 01, 02, 03, without
// a gap. It begins with a heading in comments ("--" in .sql, "#" elsewhere), a line
// for each key; a line without a key continues the one before:
//
//	# row: the index on the right column
//	# told: 20,127 → 37,019
//	# source: a team's write-up, 11:49
//	# expect: hurts
//	# target: database
//
// row, told and source are required. "expect: hurts" marks a row that the write-up
// took back, "hosts: 2" one of a ladder for machines of its own that needs two; with "hosts: 1" it
// changes the machine itself. What follows the heading depends on the ending:
//
//	.sql    CREATE INDEX, DROP INDEX and ALTER TABLE … ADD/DROP INDEX: a change of
//	        kind ddl each; the keys target (a database) and schema are required
//	.conf   after a line [mysqld], variables for the kind mysqlconf; else directives
//	        for the act "set" of the kind nginxconf; the key target is required
//	.patch  a unified diff of a service's source, for the kind patch; the key target
//	        is required, the key weakens is that of the kind
//	.toml   remedies of any kind: [[remedy]] tables with kind, target, args, says and
//	        proof, a list of properties of the site that the arena's checks hold
//
// Several remedies of one rung are applied and judged together.
package ladder
