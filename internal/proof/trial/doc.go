// Package trial makes the runs that a verdict rests on: it brings the site into the state
// of an arm, runs it there, and keeps the pairs. It does not decide what the pairs prove
// (package judge), nor which trial comes next or when one ends (package search).
//
// Its files, each above those that it uses:
//
//   - final.go: the last comparison, of the untouched and the final site
//   - star.go: the final site with and without each of the kept changes
//   - design.go: the rows of a factorial design
//   - trial.go, pair.go: the site with and without changes, in pairs, and the fast lane
//   - order.go: the order of the runs of a pair, and the rest before it
//   - arms.go: the two states of the site
//   - site.go: what a trial needs of the site
package trial
