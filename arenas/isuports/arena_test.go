package isuports

import (
	"testing"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/arena/arenatest"
	"github.com/iikanji/iikanji/internal/stack"
)

// smallSize is initial data of the contest's shape, with as many tenants but fewer
// rows.
var smallSize = dataSize{Players: bounds{20, 40}, HugePlayers: 200, Competitions: bounds{2, 5}, Visits: bounds{1, 3}, Scores: bounds{1, 3}}

const smallArena = "isuports-small"

func init() {
	stack.MaybeSupervise() // the stack's supervisor is this binary, executed again
	whole, ok := arena.Find("isuports")
	if !ok {
		panic("BUG: the arena is registered after its tests")
	}
	small := *whole
	small.Name = smallArena
	small.Generate, small.GeneratedVersion = smallSize.generate, smallSize.version()
	arena.Register(&small)
}

// faultClock is the speed of the pauses in runs with planted faults.
const faultClock = 10

func TestArena(t *testing.T) {
	arenatest.Suite(t, smallArena, arenatest.Opt{Clock: faultClock, Again: faultClock, Ease: ease, Faults: faults})
}
