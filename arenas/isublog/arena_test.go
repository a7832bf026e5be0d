package isublog_test

import (
	"testing"
	"time"

	_ "github.com/iikanji/iikanji/arenas/isublog"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// The stack's supervisor is this same binary, executed again. It must branch into
// the supervisor before any test runs.
func init() { stack.MaybeSupervise() }

func TestArena(t *testing.T) {
	tier.Slow(t)
	arenatest.Suite(t, "isublog", arenatest.Opt{Load: 5 * time.Second, Ease: ease, Faults: faults, Cheats: cheats, OnStack: testContest})
}
