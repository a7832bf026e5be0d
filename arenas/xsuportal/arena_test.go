package xsuportal

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// The stack's supervisor is this same binary, executed again. It must branch into
// the supervisor before any test runs.
func init() { stack.MaybeSupervise() }

// untouchedClock is that of the run of the untouched app, whose checks take 8 s at the
// contest's speed.
const untouchedClock = 2

func TestArena(t *testing.T) {
	tier.Slow(t)
	arenatest.Suite(t, "xsuportal", arenatest.Opt{Load: 6 * time.Second, First: untouchedClock, Clock: arenatest.FaultClock, Again: arenatest.FaultClock, Ease: ease,
		Faults: faults, OnStack: OnStack, Model: perfect})
}

// TestMessages: the app says what the checks compare.
func TestMessages(t *testing.T) {
	text, err := os.ReadFile("files/_go/messages.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{msgLoginRequired, msgTeamRequired, msgStaffRequired, msgTeamFull, msgBadInvitation, msgWrongLogin,
		msgOutsideContest, msgAlreadyRunning} {
		if strings.Count(string(text), `"`+m+`"`) != 1 {
			t.Errorf("messages.go of the app does not have %q once", m)
		}
	}
}
