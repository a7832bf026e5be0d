package tune

import (
	"context"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/trial"
)

// A Tuner searches for changes that make its site faster. See Tune.
type Tuner struct {
	Field   Field
	Site    *change.Site
	Acts    *change.Executor
	History Store
	Options search.Options
	Now     func() time.Time
	// Show receives the state of the search, Say its events, a line each. Both may
	// be nil.
	Show func(View)
	Say  func(line string)
	// Trace receives each step with the state that it was decided from; nil discards them.
	Trace func(search.State, search.Step)
	// Propose asks a proposer for candidates; nil if there is none.
	Propose func(ctx context.Context, d *diagnose.Diagnosis, known []iikanji.Fact, tried []search.Attempt) ([]search.Candidate, error)

	// Plan turns a remedy into a change of the site; nil is change.Plan.
	Plan func(ctx context.Context, r iikanji.Remedy) (*iikanji.Change, error)

	// WhichFile makes the choice that a refusal leaves open: the remedy with the
	// schema file that initialize executes. ok is false if it cannot choose; nil
	// is a WhichFile that never can.
	WhichFile func(ctx context.Context, refused *change.WhichFileError) (_ iikanji.Remedy, ok bool, err error)

	book    *book
	display *display
	hands   *hands
	runner  *runner
	planner *planner

	out    *Outcome
	on     *onTrial
	design *trial.Design
	star   *trial.Star
	final  *trial.Final
	longer []*iikanji.Run // of the second length
}

// An Outcome is the result of a search.
type Outcome struct {
	Attempts []search.Attempt `json:"attempts"`
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
	// Proofs are how the changes in force are proven.
	Proofs  search.Proofs   `json:"proofs"`
	Runs    int             `json:"runs"` // of this search, without earlier ones on the history
	Voided  int             `json:"voided"`
	Took    time.Duration   `json:"took_ns"`
	Full    time.Duration   `json:"full_ns"`
	Plan    search.TimePlan `json:"plan"` // with the time that a run was seen to take
	Notes   []string        `json:"notes,omitempty"`
	Partial bool            `json:"partial,omitempty"`
}
