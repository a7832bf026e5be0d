// Package mirror keeps a copy of a folder of source of another machine on this one: the
// tools that read a program's source need its files and the go command in one place.
//
// A source is what a build reads: the regular files of a folder without names that begin
// with a dot, without node_modules, and without the program that a build puts there. Links
// are left out.
package mirror
