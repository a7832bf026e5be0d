package scenario

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Step is a kind of request, as an index into Info.Steps.
type Step int

// An Event is something that scores, as an index into Info.Events.
type Event int

// A Phase is a part of a run; the engine times each.
type Phase string

const (
	Initialize Phase = "initialize"
	Prepare    Phase = "prepare"
	Load       Phase = "load"
	Validate   Phase = "validate"
)

// Info says once what a scenario is made of. It must not change afterwards.
type Info struct {
	Name  string
	Steps []string // names of steps, by Step
	Table Table
	// Load is the length of the load phase when nobody says otherwise.
	Load time.Duration
	// Timeout is the time that a request may take when its Request says nothing.
	Timeout time.Duration
}

// A Scenario is a workload with its checks. It implements at least one of
// Preparer, Loader and Validator, which run in this order.
type Scenario interface {
	Info() Info
}

// A Preparer brings the target into its first state and checks its answers
// without load. An error fails the run; the error should be a *Fault.
type Preparer interface {
	Prepare(ctx context.Context, s Session) error
}

// A Loader starts the actors of the load phase with Session.Go and
// Session.Every and returns; or stays until ctx is done. The engine ends the
// phase when the load time has passed: it cancels ctx and waits for the actors.
type Loader interface {
	Load(ctx context.Context, s Session) error
}

// A Validator checks the target once more after the load.
type Validator interface {
	Validate(ctx context.Context, s Session) error
}

// A Session is the engine as a scenario sees it. All methods may be called
// from any goroutine.
type Session interface {
	// URL is the target's base URL without a trailing slash.
	URL() string
	// Seed is the seed of the run: two runs of one seed offer the same work.
	Seed() uint64
	// Rand returns a fresh generator that depends on the seed and the name
	// only, so that actors may start in any order. It is not safe for
	// concurrent use.
	Rand(name string) *rand.Rand
	// NewClient returns a browser with its own connections, cookies and cache.
	NewClient(o ClientOptions) Client

	// Phase says that another phase begins, as from Initialize to Prepare
	// within Preparer.Prepare, which begins with Initialize.
	Phase(p Phase)
	// LoadTime is how long the load phase is to last.
	LoadTime() time.Duration

	// Go starts an actor: a closed loop that lives until it returns or ctx is
	// done. A panic in it becomes a fatal Fault. kind groups actors for the
	// gauges, as in "user".
	Go(kind string, actor func(ctx context.Context))
	// Every starts scheduled arrivals: do is called once per period with the
	// time at which it was due, one call at a time; a due time that has passed
	// while the former call ran is dropped or queued as the options say. It ends
	// with the phase. How many were dropped is a gauge of the run. Put due into
	// Request.Due: then latency counts from there.
	Every(kind string, o Arrivals, do func(ctx context.Context, due time.Time))

	// Add counts n of an event, in the load phase only.
	Add(e Event, n int64)
	// Count is the sum of an event so far.
	Count(e Event) int64
	// Report counts an error as a fault. Nil errors and those of kind
	// iikanji.FaultCut are ignored. An error that is no *Fault counts as a check
	// "internal". In the load phase the score table says what an error costs;
	// an error reported in Prepare or Validate fails the run when the phase is
	// over, so that a check can report all it finds.
	Report(err error)
	// Fail reports an error as fatal: the run fails and ends at once.
	Fail(err error)
	// Errors and Timeouts count what was reported so far, as the score table counts them.
	Errors() int64
	Timeouts() int64

	// Gauge sets a number that explains the run, as in ("users at the end", "", 12).
	Gauge(name, unit string, value float64)
	// Say shows one line on the progress display and keeps it in the run's notes.
	Say(format string, args ...any)
}

// Arrivals describes a schedule.
type Arrivals struct {
	First  time.Duration // from now to the first due time
	Period time.Duration // between due times; must be > 0
	// Queue keeps due times that pass while do still runs and serves them
	// late, with their own due time; otherwise they are dropped.
	Queue bool
}
