// Package filter is the language of conditions on log entries, shared by
// `iikanji access --where` and `iikanji slow --where`, and of the times of
// --since and --until.
//
//	status>=500, method=POST            a comma, "and" or && means and
//	time > 200ms or bytes > 1m          "or" or || means or
//	not (path ~ ^/api/ and user = bob)  "not" or !, parentheses
//	method = GET|HEAD                   any of several values
//	uri matches "^/a" and status in [404, 499]
//
// A program declares its fields once, as a [Fields] of its type of entries, and
// calls [Fields.Parse]. The result is a list of conditions that must all hold;
// each names the fields that it uses, so that a program can refuse a field that
// its log lacks. [Condition.Holds] allocates nothing.
//
// [ParseWhen] reads the times that users write: absolute, a time of day, or a
// duration before the end of the log.
package filter
