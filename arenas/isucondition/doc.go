// Package isucondition is the arena of the ISUCON 11 qualifier: chairs report
// their condition at a very high rate, owners read lists, histories and graphs,
// and viewers watch a trend page. It is rebuilt from the public rules and contains
// no code of the original.
//
// The package holds the contest (app, data, web page, web server configuration)
// and its benchmarker. It neither starts services (package stack) nor implements
// HTTP requests (package bench).
//
//  1. arena.go registers the arena and lists its parts.
//  2. files/ is copied into the work folder as webapp/: the slow app and its surroundings.
//  3. data*.go generate the initial data, once for the database and once for the benchmarker.
//  4. scenario.go is the benchmarker.
package isucondition
