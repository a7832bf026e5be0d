package iikanji

import "time"

// RunVersion is the version of the JSON form of a [Run]; readers refuse a
// larger one. It is increased when the meaning of a field changes, not when a
// field is added.
const RunVersion = 1

// A RunID counts up from 1 within one history and is never reused.
type RunID int

// A Fingerprint is a digest, in lower-case hex, of the state that a [Change] may
// modify. It excludes facts that change by themselves (row counts, uptimes).
type Fingerprint string

// A Run is one benchmark of one state of a target.
type Run struct {
	Version  int         `json:"version"` // RunVersion of the writer
	ID       RunID       `json:"id"`
	Scenario string      `json:"scenario"`
	Seed     uint64      `json:"seed"`
	State    Fingerprint `json:"state,omitempty"`

	Began time.Time     `json:"began"`
	Took  time.Duration `json:"took_ns"` // of the load phase

	Outcome Outcome `json:"outcome"`
	// Score is meaningful only when Outcome is Passed.
	Score float64 `json:"score"`
	// Raw is the score before deductions; Deducted is the sum of the deductions.
	Raw      float64     `json:"raw"`
	Deducted float64     `json:"deducted"`
	Points   []PointStat `json:"points"`  // score by event, in the scenario's order
	Reasons  []string    `json:"reasons"` // reasons for the Outcome, for human readers
	Steps    []StepStat  `json:"steps"`
	Faults   []Fault     `json:"faults"` // failed checks and errors, most severe first
	Phases   []PhaseStat `json:"phases"`
	Gauges   []Gauge     `json:"gauges,omitempty"` // counts that the scenario defines, such as users at the end
	Load     Generator   `json:"generator"`
	Usage    []Usage     `json:"usage,omitempty"` // CPU time by service during the load phase
	// Environment is what else the machine did during the load phase.
	Environment *Environment `json:"environment,omitempty"`
	Hosts       []RunHost    `json:"hosts,omitempty"` // the other machines of the site, by name
	// Counts is the growth of the database's own counters during the load
	// phase, as in "queries" or "rows examined".
	Counts   map[string]float64 `json:"counts,omitempty"`
	Place    Placement          `json:"placement"`
	Machine  *Machine           `json:"machine,omitempty"` // that the generator ran on; nil in older runs
	Profiles []Profile          `json:"profiles,omitempty"`
	Notes    []string           `json:"notes,omitempty"`    // messages of the scenario during the run
	Warnings []string           `json:"warnings,omitempty"` // doubts about the measurement itself
	Messages []Message          `json:"messages,omitempty"` // of an outside benchmarker, in its order
	Partial  bool               `json:"partial,omitempty"`  // interrupted: covers less than was requested
	// Watched is the site's own traffic: no load was sent, and there is no score.
	Watched bool `json:"watched,omitempty"`
	// Who made the run, where several people work on a site.
	Who string `json:"who,omitempty"`
}

// Clean reports whether the run's score is valid and may be compared.
func (r *Run) Clean() bool { return r.Outcome == Passed && !r.Partial && !r.Load.Void }

// An Outcome is the way in which a Run ended.
type Outcome uint8

const (
	OutcomeUnknown Outcome = iota
	// Passed: every check that can fail a run passed and the score counts.
	Passed
	// Failed: a check failed the run; the score is 0.
	Failed
	// Void: the measurement is not valid (the generator was the limit).
	Void
	// Interrupted: stopped by the user before the end.
	Interrupted
	// Pending: a person has not given the score yet.
	Pending
)

var outcomeWords = []string{"unknown", "passed", "failed", "void", "interrupted", "pending"}

func (o Outcome) String() string               { return wordOf(outcomeWords, o) }
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText accepts the words that String prints.
func (o *Outcome) UnmarshalText(b []byte) error { return parseWord(outcomeWords, b, o, "outcome") }

// A StepStat sums up all requests of one step of a scenario.
type StepStat struct {
	Step     string `json:"step"`
	Count    int64  `json:"count"`  // answers of the target, errors included
	Errors   int64  `json:"errors"` // answers that were faults, timeouts included
	Timeouts int64  `json:"timeouts"`
	// QuietTimeouts counts the timeouts of requests whose errors do not count. Errors
	// and Timeouts exclude them.
	QuietTimeouts int64 `json:"quiet_timeouts,omitempty"`
	// Cut counts requests that the end of the load phase cut off; Count, Errors
	// and the latencies exclude them.
	Cut      int64 `json:"cut"`
	Cached   int64 `json:"cached"`       // answered by the simulated browser cache without a request; Count excludes them
	NotMod   int64 `json:"not_modified"` // answered 304
	Sent     Bytes `json:"sent"`
	Received Bytes `json:"received"`
	// Latencies of the answers that arrived. They are measured from the due time
	// if arrivals are scheduled, and otherwise from the start of sending. The
	// error of the percentiles is at most 1 %.
	Total time.Duration `json:"total_ns"`
	Mean  time.Duration `json:"mean_ns"`
	P50   time.Duration `json:"p50_ns"`
	P90   time.Duration `json:"p90_ns"`
	P95   time.Duration `json:"p95_ns"`
	P99   time.Duration `json:"p99_ns"`
	Max   time.Duration `json:"max_ns"`
}

// A PointStat is one line of a score: an event, its count and its points.
type PointStat struct {
	Event  string  `json:"event"`
	Count  int64   `json:"count"`
	Points float64 `json:"points"`
}

// A PhaseStat is the duration of one phase of a run.
type PhaseStat struct {
	Phase string        `json:"phase"` // boot, initialize, prepare, load, validate
	Took  time.Duration `json:"took_ns"`
	// Limit is how long the phase may take, by the rules of a contest; 0 if unknown. Usual
	// is the median of the runs before Since, the first of those that are all as slow as
	// this one; 0 if the phase did not become slower.
	Limit time.Duration `json:"limit_ns,omitempty"`
	Usual time.Duration `json:"usual_ns,omitempty"`
	Since RunID         `json:"since,omitempty"`
}

// A Gauge is a number that the scenario counts to explain its score.
type Gauge struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// A Generator is the load generator's own resource use. A run is void if the
// generator was the bottleneck.
type Generator struct {
	CPUShare   float64       `json:"cpu_share"`  // of the cores it may use, 0..1
	Cores      int           `json:"cores"`      // cores it may use
	LagP99     time.Duration `json:"lag_p99_ns"` // between due time and start of sending, or timer overshoot
	LagMax     time.Duration `json:"lag_max_ns"`
	LagMean    time.Duration `json:"lag_mean_ns"`
	Requests   int64         `json:"requests"`
	Dials      int64         `json:"dials"`
	DialFaults int64         `json:"dial_faults"`
	PeakConns  int64         `json:"peak_conns"`
	PeakPorts  float64       `json:"peak_port_share"` // of the local port range, 0..1
	Goroutines int           `json:"goroutines"`      // at the end of the load phase
	Void       bool          `json:"void"`
	// Starved: Void only because it woke up late, with CPU time, ports and
	// descriptors left.
	Starved bool `json:"starved,omitempty"`
	// Busy: Void only because CPU time was short, whether it used up its cores or woke
	// up late. The site could have answered more: the score is a lower bound.
	Busy bool   `json:"busy,omitempty"`
	Why  string `json:"why,omitempty"` // the reason for Void
}

// A Usage is the CPU time that one service used during the load phase.
type Usage struct {
	Who    string        `json:"who"` // generator, nginx, app, database, other
	User   time.Duration `json:"user_ns"`
	System time.Duration `json:"system_ns"`
	// Children is the part of User and System of programs that ended, and for which a process
	// of the service waited.
	Children time.Duration `json:"children_ns,omitempty"`
	Share    float64       `json:"share"`          // of the whole machine's cores, 0..1
	Host     string        `json:"host,omitempty"` // the machine, "" for the one that sends the load
	PeakRS   Bytes         `json:"peak_rss,omitempty"`
}

// A Placement lists the CPUs that the generator and the stack were allowed to use.
type Placement struct {
	Cores     int    `json:"cores"`     // of the machine
	Generator string `json:"generator"` // CPU list as in "0", or "all"
	Stack     string `json:"stack"`     // in the same form; "" if unknown
}

// A Machine describes what a run was made on, for readers who repeat it.
type Machine struct {
	System  string `json:"system,omitempty"` // as in "Debian GNU/Linux 12 (bookworm)"
	Kernel  string `json:"kernel,omitempty"`
	CPU     string `json:"cpu,omitempty"` // model
	Cores   int    `json:"cores,omitempty"`
	Memory  Bytes  `json:"memory,omitempty"`
	Program string `json:"program,omitempty"` // version of iikanji
}

// A RunHost is another machine of the site as it was in a [Run].
type RunHost struct {
	Name string `json:"name"`
	// Identity tells machines apart: one at the same address may be another one. Boot
	// tells its boots apart.
	Identity string   `json:"identity,omitempty"`
	Boot     string   `json:"boot,omitempty"`
	Machine  *Machine `json:"machine,omitempty"`
	// Environment is what else it did during the load phase; nil if that is unknown.
	Environment *Environment `json:"environment,omitempty"`
	Clock       *Clock       `json:"clock,omitempty"` // nil if it was not compared
}

// A Clock compares the clock of another machine with the one of the machine that sends the
// load, right before and right after the load phase.
type Clock struct {
	Before ClockReading `json:"before"`
	After  ClockReading `json:"after"`
}

// A ClockReading is one comparison. The offset is right within half of the round trip.
type ClockReading struct {
	At     time.Time     `json:"at"`        // on the machine that sends the load
	Offset time.Duration `json:"offset_ns"` // of the other clock, which is ahead if it is positive
	Trip   time.Duration `json:"round_trip_ns"`
}

// Within is how far the offset may be from the true one, in each direction.
func (r ClockReading) Within() time.Duration { return r.Trip / 2 }

// Drift is by how much the offset grew during the load.
func (c Clock) Drift() time.Duration { return c.After.Offset - c.Before.Offset }

// OffsetAt is the offset at a time, along the line between both readings.
func (c Clock) OffsetAt(at time.Time) time.Duration {
	span := c.After.At.Sub(c.Before.At)
	if span <= 0 {
		return c.Before.Offset
	}
	return c.Before.Offset + time.Duration(float64(c.Drift())*float64(at.Sub(c.Before.At))/float64(span))
}

// Shift is a time of the other clock by the clock of the machine that sends the load.
func (c Clock) Shift(at time.Time) time.Time {
	since := at.Sub(c.Before.At) - c.Before.Offset // by the other clock
	if span := c.After.At.Sub(c.Before.At); span > 0 {
		since = time.Duration(float64(since) / (1 + float64(c.Drift())/float64(span)))
	}
	return c.Before.At.Add(since)
}

// Placed is the service with its machine, as in "mariadb on db"; without one for the machine
// that sends the load.
func (u Usage) Placed() string { return PlacedOn(u.Who, u.Host) }

// PlacedOn is a service with its machine, if that has a name.
func PlacedOn(service, host string) string {
	if host == "" {
		return service
	}
	return service + " on " + host
}

// CoresOf is the number of cores of a machine in the run, at least 1; "" is the one that
// sends the load.
func (r *Run) CoresOf(host string) int {
	if h, ok := r.Host(host); ok && h.Machine != nil {
		return max(h.Machine.Cores, 1)
	}
	return max(r.Place.Cores, 1)
}

// CapacityOf is how many cores' worth of CPU time the services of a machine may have in the
// run: its cores, or the quota that they share.
func (r *Run) CapacityOf(host string) float64 {
	cores := float64(r.CoresOf(host))
	if h, ok := r.Host(host); ok && h.Environment != nil && h.Environment.Shared > 0 {
		return min(cores, h.Environment.Shared)
	}
	return cores
}

// leastStopped is the share of the time of its cores for which a quota must have stopped the
// services of a machine before it counts as used up. One that a site just fits into stops it for a
// few percent.
const leastStopped = 0.1

// UsedUp reports whether the CPU quota that all services of a machine share was used up, although
// they had less: programs beside them are in it, too, and loads have bursts and pauses.
func (r *Run) UsedUp(host string) bool {
	h, ok := r.Host(host)
	return ok && h.Environment != nil && h.Environment.Shared > 0 && h.Environment.Throttled >= leastStopped
}

// Host is the other machine of a name in the run.
func (r *Run) Host(name string) (RunHost, bool) {
	for _, h := range r.Hosts {
		if h.Name == name {
			return h, true
		}
	}
	return RunHost{}, false
}

// A Fault is a group of errors of one kind at one step, with one example and a count.
// Errors are never listed one by one.
type Fault struct {
	Kind FaultKind `json:"kind"`
	Step string    `json:"step,omitempty"`
	// Check is the stable name of the scenario's check that failed, as in
	// "trend-backwards"; empty for faults of transport.
	Check   string `json:"check,omitempty"`
	Message string `json:"message"` // of the first error
	Count   int64  `json:"count"`
	// Fatal faults fail the run at once.
	Fatal   bool     `json:"fatal,omitempty"`
	Example *Example `json:"example,omitempty"`
}

// An Example is one request and answer with a Fault. It contains no secrets
// (cookies, tokens, form bodies).
type Example struct {
	Request string `json:"request"`          // method and path
	Status  int    `json:"status,omitempty"` // 0 without an answer
	Body    string `json:"body,omitempty"`   // first bytes, valid UTF-8
}

// A FaultKind is the layer at which a request failed.
type FaultKind uint8

const (
	FaultUnknown     FaultKind = iota
	FaultDial                  // no connection
	FaultTimeout               // no complete answer in time
	FaultClosed                // the connection ended before the answer was complete
	FaultProtocol              // not HTTP/1.1, or beyond the limits
	FaultStatus                // not the expected status
	FaultContentType           // not the expected media type
	FaultBody                  // a body that does not decode: JSON, gzip, length
	FaultCheck                 // well-formed but wrong
	FaultCut                   // cut off by the end of the phase; never counted as an error
)

var faultKindWords = []string{"unknown", "dial", "timeout", "closed", "protocol", "status", "content-type", "body", "check", "cut"}

func (k FaultKind) String() string               { return wordOf(faultKindWords, k) }
func (k FaultKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText accepts the words that String prints.
func (k *FaultKind) UnmarshalText(b []byte) error {
	return parseWord(faultKindWords, b, k, "fault kind")
}

// An Environment is what else a machine did during the load phase of a [Run].
// The shares are of the CPU time of all cores, 0..1. A nil Environment was not
// measured.
type Environment struct {
	Used  float64 `json:"used"`  // by the run: its generator and the services
	Other float64 `json:"other"` // by programs that are not part of the run
	Steal float64 `json:"steal"` // by the hypervisor, for other guests
	// Throttled is the time during which a CPU quota stopped the processes of the
	// run, summed over the cores.
	Throttled float64 `json:"throttled,omitempty"`
	Quota     float64 `json:"quota_cores,omitempty"` // of the control group; 0 for none
	// Shared is the quota, in cores, that all services of the machine have together: they
	// have no more of it, whatever its cores are. 0 for none.
	Shared   float64  `json:"shared_quota_cores,omitempty"`
	MHz      float64  `json:"mhz,omitempty"` // mean frequency at the end of the load; 0 if unknown
	DiskBusy float64  `json:"disk_busy"`     // share of the time, summed over the disks
	Swapped  int64    `json:"swapped_pages,omitempty"`
	Timers   []string `json:"package_timers,omitempty"` // programs such as apt-get that ran at the end of the load

	// The spreads are robust standard deviations over the search's runs before this
	// one: how far the numbers of two runs usually are apart on this machine.
	OtherSpread     float64 `json:"other_spread,omitempty"`
	StealSpread     float64 `json:"steal_spread,omitempty"`
	ThrottledSpread float64 `json:"throttled_spread,omitempty"`

	// Disturbance is why the run does not count.
	Disturbance Disturbance `json:"disturbance,omitempty"`
	// FullDisk is a folder whose disk was nearly full at the end of the load; "" for none.
	FullDisk string `json:"full_disk,omitempty"`
	// Accepted: the disturbance was ignored, because the user chose so or because
	// every run on this machine is disturbed.
	Accepted bool `json:"accepted,omitempty"`
}

// A Disturbance is the kind of event that makes a [Run] differ grossly from other
// runs on the same machine.
type Disturbance uint8

const (
	Undisturbed   Disturbance = iota
	OtherPrograms             // other programs used the CPU
	Stolen                    // the hypervisor took CPU time
	Throttled                 // a CPU quota stopped the run although it used no more than others
	SlowClock                 // the CPU ran at a lower frequency
	BusyDisk                  // the disk was busier
	Swapping                  // the machine swapped
	DiskFull                  // the disk of the data is nearly full
)

var disturbanceWords = []string{"none", "other-programs", "steal", "throttled", "slow-clock", "busy-disk", "swapping", "disk-full"}

func (d Disturbance) String() string               { return wordOf(disturbanceWords, d) }
func (d Disturbance) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts the words that String prints.
func (d *Disturbance) UnmarshalText(b []byte) error {
	return parseWord(disturbanceWords, b, d, "disturbance")
}

// A Message is a group of lines of an outside benchmarker that differ in their numbers only.
type Message struct {
	Text  string  `json:"text"` // the first line, without its time
	Means Meaning `json:"means"`
	Count int64   `json:"count"`
	// First and Last are the times of the first and the last of the lines, from the first
	// line of the output that has a time; 0 where lines have none.
	First time.Duration `json:"first_ns,omitempty"`
	Last  time.Duration `json:"last_ns,omitempty"`
	Route string        `json:"route,omitempty"` // that the lines name, as in "GET /api/trend"
	// Value and Limit are the numbers of the last line that has both meanings: errors and how
	// many fail the run, or seconds of initialize and how many it may take. 0 if not named.
	Value float64 `json:"value,omitempty"`
	Limit float64 `json:"limit,omitempty"`
}

// A Meaning is what a line of a benchmarker says of the run.
type Meaning uint8

const (
	MeansNothing  Meaning = iota // nothing that a rule uses
	MeansNoGrowth                // the load did not grow when it could have
	MeansGrowth                  // the load grew
	MeansTimeout                 // a request had no answer in time
	MeansStale                   // an answer was older than allowed
	MeansWrong                   // an answer had the wrong content
	MeansError                   // an answer with an error, or a connection that broke
	MeansMargin                  // how many errors there are, and how many fail the run
	MeansInit                    // initialize: how long it took, or that it failed
	MeansFailed                  // the run failed
)

var meaningWords = []string{"nothing", "no-growth", "growth", "timeout", "stale", "wrong", "error", "margin", "initialize", "failed"}

func (m Meaning) String() string               { return wordOf(meaningWords, m) }
func (m Meaning) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText accepts the words that String prints.
func (m *Meaning) UnmarshalText(b []byte) error { return parseWord(meaningWords, b, m, "meaning") }
