// Package attribute finds the routes that send each statement. No log contains
// this: the access log has requests, the slow log has statements. But load
// varies, and a route's statements run while its requests run:
//
//	executions(t) = Σ each(route) × requests(route, t) + noise,   each ≥ 0
//
// t are ticks of equal length; requests(route, t) is a request's share of its
// time in that tick, so a request counts 1 in all. There is no constant term:
// without requests there are no statements.
//
// How a digest is attributed:
//
//  1. Columns: each route has a column of its requests by tick. Where the log has
//     no request times, requests are known by their end only, and a route has a
//     column for each of several assumed times. An app goes on with a request after
//     its client gave up: such routes also have columns for times after the end.
//
//  2. Selection: starting without any route, the route whose column improves the
//     least-squares fit most is added, with each ≥ 0, as long as the improvement
//     is significant. Routes that are not needed any more are removed.
//
//  3. Rivals: each selected route is replaced by every other one in turn. A route
//     is certain if every replacement makes the fit significantly worse.
//
//  4. Whole numbers: one route that sends a digest once (to four times) per request,
//     and that fits better than every other single route, is preferred to several
//     routes with arbitrary numbers.
//
// Smooth curves compete with the routes: all of a site grows and shrinks with its
// load, which is not evidence.
//
// All tests count independent ticks, not ticks: requests and loops are longer
// than a tick, so that residuals of neighbouring ticks are alike. Ticks are
// weighted by the inverse of the load around them, because the noise grows with
// the number of statements.
//
// The result depends on the counts alone. There is no randomness and no clock.
package attribute
