package xsuportal

import (
	"testing"

	"github.com/iikanji/iikanji/internal/contest/stack"
)

// OnStack runs the tests of the app on a stack; they are in the other package.
var OnStack func(t *testing.T, s *stack.Stack)
