package isuxi

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// The stack's supervisor is this same binary, executed again. It must branch into
// the supervisor before any test runs.
func init() { stack.MaybeSupervise() }

// The tests run the arena with small data.
func init() {
	a, ok := arena.Find("isuxi")
	if !ok {
		panic("BUG: the arena is not registered")
	}
	a.Generate, a.GeneratedVersion = a.Small.Generate, a.Small.Version
}

func TestArena(t *testing.T) {
	tier.Slow(t)
	arenatest.Suite(t, "isuxi", arenatest.Opt{Load: 6 * time.Second, Clock: arenatest.FaultClock, Again: arenatest.FaultClock, Ease: ease, Faults: faults,
		OnStack: testSlow})
}
