// Package portalbench makes runs of a benchmarker that only a person can start, in a
// portal: it says when to press, sees the load in the site's access log, and is given the
// score, at once or hours later.
//
//  1. A Detector finds loads in the growth of a log (detect.go). It is pure.
//  2. A Portal is a field.Loader: it asks a person to press (portal.go). The run is kept
//     from the moment when its load begins, so that nothing of it is lost.
//  3. Scores are given by a person, on the terminal, on a page or by a command. Each is a
//     line beside the run; a later one corrects an earlier one, and both stay (score.go).
//  4. A Watch keeps loads that nobody announced (watch.go).
//  5. A Budget counts the runs that the portal still allows (budget.go).
package portalbench
