// Package board ranks teams and decides who sees what. It is pure: no clock, no I/O.
//
//  1. [Data] is all that happened in a round.
//  2. [Of] is the one function of visibility: what one reader may see at an instant
//     (view.go). Boards, charts, feeds, prizes, counts and ages come from the [View] that it
//     returns, never from Data.
//  3. The rows of a view are ranked in rank.go; [View.Series] are the lines of its chart
//     (series.go), [View.Prizes] the prizes so far (prizes.go), [View.Feed] what happened
//     (feed.go).
package board
