package isutrain

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
	a, ok := arena.Find("isutrain")
	if !ok {
		panic("BUG: the arena is not registered")
	}
	a.Generate, a.GeneratedVersion = a.Small.Generate, a.Small.Version
}

func TestArena(t *testing.T) {
	tier.Slow(t)
	arenatest.Suite(t, "isutrain", arenatest.Opt{Load: 6 * time.Second, Clock: arenatest.FaultClock, Again: arenatest.FaultClock, Ease: ease, Faults: faults,
		Model: perfect})
}

// perfect starts a perfect app with its payment service.
func perfect(data string) (url string, stop func(), err error) {
	l, err := readLine(data)
	if err != nil {
		return "", nil, err
	}
	app, pay := (&perfectApp{line: l, days: leastDays}).serve()
	return app.URL, func() { app.Close(); pay.Close() }, nil
}
