package search

import (
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// A State is all that the next step of a search depends on: what was run and what it
// showed, the candidates of the diagnosis, and the time. It is plain data, which can be
// saved and asked again.
type State struct {
	Options Options `json:"options"`
	Ledger  *Ledger `json:"ledger"`

	// The budget.
	Spent     time.Duration `json:"spent_ns"`               // of Options.Time
	Cost      time.Duration `json:"cost_ns"`                // of a run of the short load, with its reset; 0 before the first
	Runs      int           `json:"runs"`                   // of this search
	Switching time.Duration `json:"switching_ns,omitempty"` // from the untouched site to the final one, where that is not short
	Ending    bool          `json:"ending,omitempty"`       // the rest of the time is for the end
	Ladder    bool          `json:"ladder,omitempty"`       // what is in force is a ladder's: nothing else is tried, and no rung is dropped for want of a gain
	Resumed   int           `json:"resumed,omitempty"`      // attempts when the end phase went back to the search; 0 if it did not
	Long      bool          `json:"long,omitempty"`         // the kept changes are checked in full runs, too
	Unchecked int           `json:"unchecked,omitempty"`    // of the kept changes, when the others are
	EndLoad   time.Duration `json:"end_load_ns,omitempty"`  // least load of full runs while ending

	// What runs have shown of the noise and of the score.
	Judge     judge.Judge `json:"judge"`
	Score     [2]float64  `json:"score"`     // of the untouched site and of the incumbent; 0 if unknown
	AA        int         `json:"aa"`        // runs of the calibration
	Incumbent int         `json:"incumbent"` // runs of the present state
	Known     bool        `json:"noise_known,omitempty"`
	// Eager: large gains are tried before the noise is known well. NoiseRuns are the runs of
	// the calibration that were made in a state that the site has left since.
	Eager     bool `json:"eager,omitempty"`
	NoiseRuns int  `json:"noise_runs,omitempty"`
	// Longer is the second length of runs, where one was measured.
	Longer *Longer `json:"longer,omitempty"`
	Failed int     `json:"failed,omitempty"` // runs of the site as it is, in a row

	// The diagnosis.
	Observed   bool        `json:"observed,omitempty"`
	Binding    string      `json:"binding,omitempty"` // the resource that is the limit
	Candidates []Candidate `json:"candidates,omitempty"`
	Stale      bool        `json:"stale,omitempty"` // the limit may have moved: observe again
	Moved      bool        `json:"moved,omitempty"` // a change of a small effect was kept since the last observation
	Screened   Screened    `json:"screened,omitzero"`
	// Suspects are the keys of the candidates of a sweep that failed, one of which is the
	// cause.
	Suspects map[string]bool `json:"suspects,omitempty"`

	// Kept counts the void runs of the site since each change was kept.
	Kept []Aftermath `json:"kept,omitempty"`

	// What is under way.
	Phase  Phase       `json:"phase"`
	Plan   Plan        `json:"plan,omitzero"`
	Trial  *Trial      `json:"trial,omitempty"`
	Design *Design     `json:"design,omitempty"`
	Checks *Checks     `json:"checks,omitempty"`
	Final  *Comparison `json:"final,omitempty"`

	// Ratio is what the last comparison measured, final / untouched; zero before.
	Ratio iikanji.Interval `json:"ratio,omitzero"`

	// Set are other values of constants, for tests and experiments.
	Set map[Number]float64 `json:"set,omitempty"`
}

// Screened is what is known of candidates from factorial designs.
type Screened struct {
	Found   map[string]PartEffect `json:"found,omitempty"`   // by the candidate's key
	Broken  map[string]bool       `json:"broken,omitempty"`  // likewise, of those whose design could not be finished
	Binding string                `json:"binding,omitempty"` // the limit under which they were screened
}

// NewState is the state of a search that begins.
func NewState(o Options) *State {
	return &State{Options: o, Ledger: &Ledger{}, Stale: true}
}

// sd is the noise of a pair, as a standard deviation.
func (s *State) sd() float64 { return s.Judge.Prior.SD() }

// bounded reports whether the search has a limit of its time.
func (s *State) bounded() bool { return s.Options.Time > 0 }

// isInForce reports whether an attempt has changes in force.
func (s *State) isInForce(a *Attempt) bool { return len(s.Ledger.InForceOf(a)) > 0 }
