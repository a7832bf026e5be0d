// Package export writes the changes that were kept as files that a person can
// read, review and take to another machine: whole files, patches, statements,
// and two scripts that need nothing but a POSIX shell, patch(1) and a database
// client.
//
//	README.md              each change: claim, effect with its interval, diff
//	files/…                every changed file as it is now, by its place in the stack's folder
//	portable/…             the same as patches (new files whole), with the stack's own paths as tokens
//	sql/0003.sql           the statement of change 3 (0003-1, 0003-2 … of several);
//	                       sql/0003.undo.sql takes it back
//	apply.sh, undo.sh      do and undo it elsewhere; they ask for places by variables
//
// Only its owner can read the folder: sources and configurations are in it as
// they are, with any password that stands in them. Those of an app's environment
// are not: no change has them (change/appenv).
//
// It reads the history only: what is exported is what the journal says was
// done, not what the files hold by now. It starts nothing and changes nothing
// outside the folder that it makes.
//
// Steps:
//
//  1. take the changes at stage kept, in the order in which they were applied;
//  2. fold their operations (fold.go): the first undo of a file is what it was,
//     the last do is what it became; statements stay one by one;
//  3. write it all into a new folder (write.go, readme.go, script.go).
package export
