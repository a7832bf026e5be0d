// Package export writes the kept changes as files that a person can read, review
// and take to another machine: whole files, patches, statements, and two scripts
// that need only a POSIX shell, patch(1) and a database client.
//
//	README.md              each change: claim, effect with its interval, diff
//	files/…                every changed file in its final state, by its path in the stack's folder
//	portable/…             the same as patches (new files whole), with tokens for the stack's own paths
//	sql/0003.sql           the statement of change 3 (0003-1, 0003-2 … of several);
//	                       sql/0003.undo.sql undoes it
//	acts/0003.json         what change 3 was planned from, for iikanji apply --file
//	series/0001-….patch    each change of source as a commit for git am, with its proof
//	apply.sh, undo.sh      do and undo it elsewhere; variables set the paths
//
// The folder is readable by its owner only: it holds sources and configurations
// as they are, with any password in them. The passwords of an app's environment
// are not in it: no change contains them (change/appenv).
//
// It reads the history only: it exports what the journal records, not the
// present content of the files. It starts nothing and changes nothing outside
// of the folder that it creates.
//
// Steps:
//
//  1. list the changes at stage kept, in the order in which they were applied;
//  2. fold their operations (fold.go): the first undo of a file is its original
//     content, the last do its final content; statements stay separate;
//  3. write all of it into a new folder (write.go, readme.go, script.go).
package export
