// Package isuumo is the arena of the ISUCON 10 qualifier: a search site for
// chairs, and for estates with a door that a chair fits through. It is rebuilt
// from the public rules and contains no code of the original.
//
// The package holds the contest (app, data, web pages, web server configuration)
// and its benchmarker. It neither starts services (package stack) nor implements
// HTTP requests (package bench).
//
//  1. arena.go registers the arena and lists its parts.
//  2. files/ is copied into the work folder as webapp/: the slow app and its surroundings.
//  3. data*.go generate the initial data, once for the database and once for the benchmarker.
//  4. scenario.go is the benchmarker.
package isuumo
