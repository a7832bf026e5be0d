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

// TestArenaTLS: over HTTPS and HTTP/2 the arena passes as well, and checks of reads, of
// writes and of what is shown under load catch the same faults.
func TestArenaTLS(t *testing.T) {
	tier.Slow(t)
	var some []arenatest.Fault
	for _, group := range [][]arenatest.Fault{checkFaults, readFaults, writeFaults} {
		some = append(some, group[0], group[len(group)-1])
	}
	arenatest.Suite(t, "isucondition-tls", arenatest.Opt{Clock: 10000, Ease: goEase, Faults: some})
}

func TestArena(t *testing.T) {
	tier.Slow(t)
	// A third of the speed leaves the slow app time to answer under the race
	// detector; the bands and checks are the same at every speed.
	arenatest.Suite(t, "isucondition", arenatest.Opt{Clock: 10000, Ease: goEase, Faults: faults, Cheats: cheats, OnStack: testContest})
}
