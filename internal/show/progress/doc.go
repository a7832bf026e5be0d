// Package progress keeps the state of a running tune or bench in a file of the
// history, so that another process can show it:
//
//  1. The command makes a [Writer] and calls Update while it runs. The file is
//     replaced atomically, at most [writesPerSecond] times a second. It is not
//     synced, because it has no value after a crash.
//  2. A page calls [Read] and shows the [State].
//
// The file holds no secrets: command lines with values of environment variables
// are not in it.
package progress
