package isucondition_test

import (
	"testing"

	_ "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestNodeArena: the app in JavaScript passes as well, and the same checks find the same
// faults in its source.
func TestNodeArena(t *testing.T) {
	tier.Slow(t)
	arenatest.Suite(t, "isucondition-node", arenatest.Opt{Clock: 10000, Ease: ease, Faults: nodeFaults, OnStack: testNodeContest})
}

func TestArena(t *testing.T) {
	tier.Slow(t)
	// A third of the speed leaves the slow app time to answer under the race
	// detector; the bands and checks are the same at every speed.
	arenatest.Suite(t, "isucondition", arenatest.Opt{Clock: 10000, Ease: goEase, Faults: faults, Cheats: cheats, OnStack: testContest})
}
