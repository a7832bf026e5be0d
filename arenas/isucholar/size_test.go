package isucholar

import (
	"testing"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// OnStack runs the tests of the app on a stack; they are in the other package.
var OnStack func(t *testing.T, s *stack.Stack)

// The tests run the arena with small data.
func init() {
	a, ok := arena.Find("isucholar")
	if !ok {
		panic("BUG: the arena is not registered")
	}
	a.Generate, a.GeneratedVersion = a.Small.Generate, a.Small.Version
}
