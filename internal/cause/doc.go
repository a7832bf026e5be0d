// Package cause has what the rules read, what they declare, and how their findings are
// ranked. The rules are in the packages below it: measurement, app, machine, web, cache
// and database; package all lists them, and package diagnose runs them on an observation.
// All of it is pure: no clock, no I/O, the same findings for the same input.
//
//  1. An [Input] is the run, its target, its Profiles, the Facts and the levers. [Find]
//     makes a [View] of the whole run, one of each database, of each web server and of
//     each host, without what belongs to the others of its sort (services.go, hosts.go).
//  2. The view of a database has its statements, parsed, with the advised indexes
//     (package database/index) and the routes that send each (dbroutes.go).
//  3. A [Rule] makes findings of its causes from each view of its reach. It is declared
//     with its causes by [Declare], in the file of the cause's name.
//  4. Find ranks the findings by seconds of the resource that limited the run (rank.go,
//     binding.go).
//
//go:generate env UPDATE=1 go test -run TestRuleLists .
//go:generate env UPDATE=1 go test -run TestPages ./all
package cause
