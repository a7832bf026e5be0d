package isuports

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// The stack's supervisor is this same binary, executed again. It must branch into
// the supervisor before any test runs.
func init() { stack.MaybeSupervise() }

func TestArena(t *testing.T) {
	tier.Slow(t)
	arenatest.Suite(t, "isuports", arenatest.Opt{Load: 4 * time.Second, Clock: arenatest.FaultClock, Again: arenatest.FaultClock, Ease: ease, Faults: faults, OnStack: OnStack})
}
