package goldrush

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// The stack's supervisor and its server are this same binary, executed again. It must branch
// into them before any test runs.
func init() { stack.MaybeSupervise() }

func TestArena(t *testing.T) {
	tier.Slow(t)
	arenatest.Suite(t, "goldrush", arenatest.Opt{Load: 8 * time.Second, Faults: faults, OnStack: testClients})
}
