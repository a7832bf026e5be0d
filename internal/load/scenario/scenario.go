package scenario

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Step is a kind of request, as an index into Info.Steps.
type Step int

// An Event is a scored event, as an index into Info.Table.Events.
type Event int

// A Phase is a part of a run. The engine measures its duration.
type Phase string

const (
	Initialize Phase = "initialize"
	Prepare    Phase = "prepare"
	Load       Phase = "load"
	Validate   Phase = "validate"
)

// Info describes a scenario. It must not change during a run.
type Info struct {
	Name  string
	Steps []string // names of steps, by Step
	Table Table
	// Load is the default length of the load phase.
	Load time.Duration
	// Timeout limits requests without a timeout of their own.
	Timeout time.Duration
}

// A Scenario is a workload with its checks. It implements at least one of
// Preparer, Loader and Validator, which run in this order.
type Scenario interface {
	Info() Info
}

// A Preparer initialises the target and checks its answers without load. An
// error, which should be a *Fault, fails the run.
type Preparer interface {
	Prepare(ctx context.Context, s Session) error
}

// ChecksOnly returns the checks of a scenario, which has a preparer, without its load.
func ChecksOnly(whole Preparing) Preparing { return checksOnly{whole} }

// Preparing is a scenario with a preparer.
type Preparing interface {
	Scenario
	Preparer
}

// checksOnly hides a scenario's further methods, among them the load.
type checksOnly struct{ Preparing }

// A Loader starts the actors of the load phase with Session.Go and Session.Every.
// It may return or wait until ctx is done. The engine ends the phase when the
// load time has passed: it cancels ctx and waits for the actors.
type Loader interface {
	Load(ctx context.Context, s Session) error
}

// A Validator checks the target again after the load.
type Validator interface {
	Validate(ctx context.Context, s Session) error
}

// A Session is the scenario's interface to the engine. All methods may be called
// from any goroutine.
type Session interface {
	// URL is the target's base URL without a trailing slash.
	URL() string
	// Seed is the seed of the run. Two runs with the same seed offer the same work.
	Seed() uint64
	// Rand returns a new random generator. It depends on the seed and the name
	// only, so actors may start in any order. It is not safe for concurrent use.
	Rand(name string) *rand.Rand
	// NewClient returns a browser with its own connections, cookies and cache.
	NewClient(o ClientOptions) Client

	// Record counts a request that the scenario sent with a client of its own. It
	// reports no fault: the scenario calls Report for what its rules count.
	Record(x *Exchange)

	// Phase starts another phase. Preparer.Prepare begins in Initialize and calls
	// Phase(Prepare) after it has initialised the target.
	Phase(p Phase)
	// LoadTime is the intended length of the load phase.
	LoadTime() time.Duration

	// Go starts an actor: a closed loop that must return when ctx is done. A panic
	// in it becomes a fatal Fault. kind groups actors in the gauges, as in "user".
	Go(kind string, actor func(ctx context.Context))
	// Every starts scheduled arrivals: it calls do once per period with the due
	// time, one call at a time, until the phase ends. A due time that passes while
	// a call runs is dropped or queued (Arrivals.Queue). The number of dropped due
	// times is a gauge of the run. Set Request.Due to due, so that latency counts
	// from it.
	Every(kind string, o Arrivals, do func(ctx context.Context, due time.Time))

	// Add adds n to an event's count. It has no effect outside of the load phase.
	Add(e Event, n int64)
	// Count returns an event's count so far.
	Count(e Event) int64
	// Report counts an error as a fault. It ignores nil and errors of kind
	// iikanji.FaultCut. An error that is not a *Fault counts as a check
	// "internal". In the load phase the score table sets the cost of an error. An
	// error reported in Prepare or Validate fails the run at the end of the phase,
	// so a check can report all its errors.
	Report(err error)
	// Fail reports a fatal error: the run fails and ends at once.
	Fail(err error)
	// Errors and Timeouts return the numbers reported so far, counted as in the
	// score table.
	Errors() int64
	Timeouts() int64

	// Gauge sets a named number of the run, as in ("users at the end", "", 12).
	Gauge(name, unit string, value float64)
	// Say shows one line in the progress display and adds it to the run's notes.
	Say(format string, args ...any)
}

// Arrivals describes a schedule.
type Arrivals struct {
	First  time.Duration // from now to the first due time
	Period time.Duration // between due times; must be > 0
	// Queue serves due times that pass while do runs late, with their own due
	// time. Without Queue they are dropped.
	Queue bool
}
