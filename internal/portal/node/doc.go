// Package node is one process of a portal, as pages and routes see it: it implements
// api.Portal on lead, and the calls of workers.
//
//  1. A [Node] folds the events of each round into one history, and keeps one encoded board for
//     each view (boards.go). The version of a board is a digest of what it shows, so that a
//     hidden event changes nothing.
//  2. Streams send what changed to browsers (stream.go).
//  3. The calls of pages are in calls.go and jobs.go, those of workers in workers.go.
package node
