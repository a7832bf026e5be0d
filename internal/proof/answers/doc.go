// Package answers compares the answers of two builds of an app to the same
// requests, so that a rewrite of source is tested before it is measured.
//
//  1. Choose draws requests from recorded ones, evenly over their routes, and adds
//     neighbours at the borders of parameters (request.go, neighbour.go).
//  2. An Asker sends them one after the other (ask.go): twice to the old build, once
//     to the new one, on the same data. Only GET requests are sent.
//  3. Learn finds what differs between the two answers of the old build, such as
//     times and tokens: this is not compared. Compare finds every other difference
//     (learn.go, tree.go, words.go).
package answers
