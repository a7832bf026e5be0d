package xsuportal_test

import (
	"testing"

	. "github.com/iikanji/iikanji/arenas/xsuportal"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// site is the running site of the tests.
var site *apptest.Site

// testApp runs the tests below on the app with its own MariaDB and nginx.
func testApp(t *testing.T, up *stack.Stack) {
	site = apptest.On(t, up)
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{{"slow", testSlow}} {
		t.Run(c.name, c.run)
	}
}

// TestArena calls testApp on its stack.
func init() { OnStack = testApp }

// testSlow: the app is as slow as the rules describe it.
func testSlow(t *testing.T) {
	client := site.NewClient(t)
	client.Send("POST", "/initialize").Want(t, 200, "")
	board := site.WorkOf(t, func() { client.Get("/api/audience/dashboard").Want(t, 200, "") })
	// The times of the contest, the board and its scores, in a transaction.
	if board.Selects != 3 || board.Commits != 1 {
		t.Errorf("a board: %+v", board)
	}
	if board.Prepares < 2 {
		t.Errorf("a board: %d statements are prepared", board.Prepares)
	}
}
