// Package isucondition is the arena of the ISUCON 11 qualifier: chairs report
// their condition at a very high rate, owners read lists, histories and
// graphs, strangers watch a trend page. It is a rebuild from the public rules;
// no line of the original is in it.
//
// It is the contest itself (app, data, web page, web server's configuration)
// and its benchmarker; it neither starts services (package stack) nor sends
// requests by itself (package bench).
//
//  1. arena.go registers the arena and says what it is made of.
//  2. files/ is laid into the work folder as webapp/: the slow app and all around it.
//  3. data*.go generate the initial data, once for the database and once for the benchmarker.
//  4. scenario.go is the benchmarker.
package isucondition
