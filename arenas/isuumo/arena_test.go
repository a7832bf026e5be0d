package isuumo

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

const suiteName = "isuumo-small"

func init() {
	// The stack's supervisor is this same binary, executed again.
	stack.MaybeSupervise()
	a, ok := arena.Find("isuumo")
	if !ok {
		panic("BUG: the arena is not registered")
	}
	small := *a
	small.Name = suiteName
	small.Generate, small.GeneratedVersion = a.Small.Generate, a.Small.Version
	arena.Register(&small)
}

func TestArena(t *testing.T) {
	tier.Slow(t)
	arenatest.Suite(t, suiteName, arenatest.Opt{Load: 4 * time.Second, Ease: ease, Faults: faults, Cheats: cheats, Further: testModel})
}
