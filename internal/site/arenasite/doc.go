// Package arenasite connects an arena's stack with the kinds of change and the executor:
// the configuration files of each service, how to check, reload and restart it, the
// folder of its source, and the files that may be written.
//
// It plans nothing and changes nothing. It is the only package that imports both
// change and stack.
//
//  1. Files describes what the folders alone determine (files.go);
//  2. Of adds the parts that need a running stack: a pool of connections to its
//     database, and the checks, reloads and restarts (of.go).
package arenasite
