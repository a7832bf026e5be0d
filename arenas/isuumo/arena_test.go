package isuumo

import (
	"context"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/arena/arenatest"
	"github.com/iikanji/iikanji/internal/stack"
)

// suiteSize is the size of the tests' data: initialize takes a fraction of a
// second, and a run of the checks not much more.
var suiteSize = size{initial: 4000, verify: 100, files: 20, perFile: 100}

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
	small.GeneratedVersion += " small"
	small.Generate = func(ctx context.Context, webapp, data string) error { return generateTo(ctx, webapp, data, suiteSize) }
	arena.Register(&small)
}

func TestArena(t *testing.T) {
	arenatest.Suite(t, suiteName, arenatest.Opt{Load: 4 * time.Second, Faults: faults, Cheats: cheats, Further: testModel})
}
