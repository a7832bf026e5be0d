package tune

import (
	"context"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
)

// A Field is a site that a Tuner can load and observe.
type Field interface {
	// Bench loads the site once with every answer checked, and saves the run.
	// void is why the run does not count, as when the machine was much busier than in
	// other runs; "" if it counts. With spec.Accept it counts.
	Bench(ctx context.Context, spec load.Spec) (run *iikanji.Run, void string, err error)
	// Observe does the same with every sensor on and returns a diagnosis. The score
	// of such a run does not count.
	Observe(ctx context.Context, spec load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error)
	// Rehearse ends every service without warning, starts them in the worst
	// order, and says what did not come back as it was.
	Rehearse(ctx context.Context) (load.Rehearsal, error)
}

// TuneOptions bound a search.
type TuneOptions struct {
	Time  time.Duration `json:"time_ns"`         // of everything; 0 means no end
	Runs  int           `json:"runs,omitempty"`  // at most; 0 means no end
	Until float64       `json:"until,omitempty"` // stop searching when the score is that many times the untouched one
	// Short is the load of runs that search, Full of those that prove the end.
	Short time.Duration `json:"short_ns"`
	Full  time.Duration `json:"full_ns"`
	Watch time.Duration `json:"watch_ns"` // load of observed runs
	Pairs int           `json:"pairs"`    // of the last comparison
	Seed  uint64        `json:"seed"`
	// Basis names what runs must share to be compared, beside their length, as
	// in the arena, the machine and the CPUs that are used.
	Basis string `json:"basis,omitempty"`
	// Place is the CPUs of the load generator and of the site: a ratio depends on it.
	Place *iikanji.Placement `json:"placement,omitempty"`
	// Command is the command line that repeats the search, without secrets.
	Command string `json:"command,omitempty"`
}

// A Tuner searches for changes that make its site faster. See Tune.
type Tuner struct {
	Field   Field
	Site    *change.Site
	Acts    *change.Executor
	History Store
	Options TuneOptions
	Now     func() time.Time
	// Show receives the state of the search, Say its events, a line each. Both may
	// be nil.
	Show func(View)
	Say  func(line string)
	// Propose asks a proposer for candidates; nil if there is none.
	Propose func(ctx context.Context, d *diagnose.Diagnosis, known []iikanji.Fact, tried []Attempt) ([]Candidate, error)

	// Plan turns a remedy into a change of the site; nil is change.Plan.
	Plan func(ctx context.Context, r iikanji.Remedy) (*iikanji.Change, error)

	// WhichFile makes the choice that a refusal leaves open: the remedy with the
	// schema file that initialize executes. ok is false if it cannot choose; nil
	// is a WhichFile that never can.
	WhichFile func(ctx context.Context, refused *change.WhichFileError) (_ iikanji.Remedy, ok bool, err error)

	parts
}

// A View is the state of a running search, for display.
type View struct {
	Phase    string // observe, calibrate, trial, drop-one, rehearsal, last comparison
	Doing    string // in a sentence
	Purpose  string // the reason for it
	Pairs    int    // usable ones so far
	Effect   *iikanji.Interval
	Score    float64 // geometric mean of the incumbent's short runs
	First    float64 // the same of the untouched site
	Kept     int
	Tried    int
	Runs     int
	Left     time.Duration // to the end of everything; 0 without a limit
	LoadLeft time.Duration
}

// An Attempt is one candidate's trial, or the reason why it had none.
type Attempt struct {
	Candidate
	Key     string             `json:"key"`
	Changes []iikanji.ChangeID `json:"changes,omitempty"`
	Says    string             `json:"says"`
	Verdict iikanji.Verdict    `json:"verdict"`
	// Skipped is why there was no trial; "" if there was one.
	Skipped string `json:"skipped,omitempty"`
	// Parked: the trial decided nothing. The candidate is tried again when another
	// resource than Binding is the limit, or when a kept change raises its expected gain.
	Parked  bool   `json:"parked,omitempty"`
	Binding string `json:"binding,omitempty"`
	// Deferred attempts were ended early for a candidate that promised more, and
	// are tried again when no other is left.
	Deferred bool `json:"deferred,omitempty"`
	Fast     bool `json:"fast_lane,omitempty"`
	// Again is the verdict of the check at the end, with pairs of their own.
	Again *iikanji.Verdict `json:"checked_again,omitempty"`
	// Parts are the changes of a bundle in words, Causes their findings, with code
	// and place.
	Parts  []string `json:"parts,omitempty"`
	Causes []string `json:"causes,omitempty"`
	// Alone are the verdicts of a screening on the changes of a bundle, each proven
	// by itself; nil for a change that was proven only together with the others.
	Alone   []*iikanji.Verdict `json:"proven_alone,omitempty"`
	Dropped bool               `json:"dropped,omitempty"` // kept first, taken back by a drop-one check
	Undone  bool               `json:"undone,omitempty"`  // kept first, taken back by a person since
	Rung    string             `json:"rung,omitempty"`    // of a ladder, whose changes may stay without a proof
	Stays   bool               `json:"stays,omitempty"`   // a rung's changes stayed after its trial
	Runs    int                `json:"runs"`
	Took    time.Duration      `json:"took_ns"`
}

// again marks an attempt to be tried again because its proof no longer holds.
func (a *Attempt) again(why string) {
	a.Parked, a.Deferred, a.Fast, a.Binding = true, false, false, "of another state"
	a.Verdict = iikanji.Verdict{Change: a.Verdict.Change, Call: iikanji.Inconclusive, Reason: iikanji.Undecided, Why: why}
}

// An Outcome is the result of a search.
type Outcome struct {
	Attempts []Attempt `json:"attempts"`
	// Ratio is final / untouched of interleaved full runs.
	Ratio     iikanji.Interval `json:"ratio"`
	Untouched []iikanji.RunID  `json:"untouched_runs"`
	Final     []iikanji.RunID  `json:"final_runs"`
	Scores    [2]float64       `json:"scores"` // geometric means, untouched and final
	// Place is the CPUs of the runs.
	Place *iikanji.Placement `json:"placement,omitempty"`
	// Requests and CPU per request of the two, by name, where the score's own
	// shape may hide a gain.
	Work      []iikanji.Work `json:"work,omitempty"`
	Short     [2]float64     `json:"short_scores"` // the same in the searching runs
	Rehearsal load.Rehearsal `json:"rehearsal"`
	Noise     float64        `json:"noise"` // SD of ln(score) of a pair's difference
	// FalseKeeps is how many of the changes in force are expected to have no effect.
	FalseKeeps float64       `json:"false_keeps_expected"`
	Runs       int           `json:"runs"` // of this search, without earlier ones on the history
	Voided     int           `json:"voided"`
	Took       time.Duration `json:"took_ns"`
	Full       time.Duration `json:"full_ns"`
	Plan       TimePlan      `json:"plan"` // with the time that a run was seen to take
	Notes      []string      `json:"notes,omitempty"`
	Partial    bool          `json:"partial,omitempty"`
}
