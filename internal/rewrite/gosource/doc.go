// Package gosource reads the source of an app that is written in Go: the places
// that code levers find in it, the handlers of its routes, and the functions that
// they reach. The results are facts, which package diagnose joins with a run.
//
// It reads files of this machine and starts the go command, without network. It
// writes nothing.
package gosource
