// Package apitest is a portal in memory for tests of pages: a contest with teams, runs, a
// queue and messages, at an instant that the test chooses.
//
//	p := apitest.New(apitest.Frozen)
//	board, err := p.Board(ctx, apitest.Member, apitest.Round)
package apitest
