// Package api is what a portal answers: the types of its JSON, the interface that pages and
// routes call, and the routes of /api/v1.
//
//  1. The types: [Round], [Board], [Job], [Queue], [Message], [Worker] (round.go,
//     job.go). Times are RFC 3339, durations nanoseconds (…_ns).
//  2. [Portal] is the interface behind pages and routes (portal.go). Each call says who asks
//     ([Who]); what a caller may not see is [ErrNotFound], what it may not do is [ErrForbidden].
//     apitest implements it in memory, for tests of pages.
package api
