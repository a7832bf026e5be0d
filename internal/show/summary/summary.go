package summary

import (
	"cmp"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// Version is the version of the JSON form of a [Summary].
const Version = 1

// A Summary is a history in the form in which it is shown.
type Summary struct {
	Version  int      `json:"version"`
	Target   string   `json:"target"`             // as it is named in commands
	Name     string   `json:"name,omitempty"`     // of a site; "" for that of the target
	Warnings []string `json:"warnings,omitempty"` // damage of the history
	// Headline is nil if no last comparison was made.
	Headline *Headline `json:"headline,omitempty"`
	Runs     []Run     `json:"runs"`
	Trials   []Trial   `json:"trials"`
	Changes  []Change  `json:"changes"`
	// Routes, Digests and CPU are where the time goes before and after.
	Routes  Comparison `json:"routes"`
	Digests Comparison `json:"digests"`
	CPU     Comparison `json:"cpu"`
	// Observed are the runs with sensors, oldest first.
	Observed []Observed `json:"observed,omitempty"`
	Searches []Search   `json:"searches,omitempty"`
	Prices   []Price    `json:"prices,omitempty"`
	Notes    []Note     `json:"notes,omitempty"`

	Machine  *iikanji.Machine   `json:"machine,omitempty"`
	Place    *iikanji.Placement `json:"placement,omitempty"`
	Versions []Software         `json:"versions,omitempty"`
	Commands []string           `json:"commands,omitempty"`
}

// A Headline is the result of the last comparison: untouched against final.
type Headline struct {
	Ratio     iikanji.Interval `json:"ratio"` // Lo and Hi are 0 without an interval
	Scores    [2]float64       `json:"scores"`
	Pairs     int              `json:"pairs"`
	Load      time.Duration    `json:"load_ns"`
	Work      []iikanji.Work   `json:"work,omitempty"`
	Untouched []iikanji.RunID  `json:"untouched_runs"`
	Final     []iikanji.RunID  `json:"final_runs"`
	// Derived: the history has no record of the comparison, so that the pairs are
	// the last runs of its journal with no change and with all changes.
	Derived bool `json:"derived,omitempty"`
}

// A Search is the record of one search.
type Search struct {
	Began     time.Time      `json:"began"`
	Took      time.Duration  `json:"took_ns"`
	Runs      int            `json:"runs"`
	Voided    int            `json:"voided"`
	Noise     float64        `json:"noise"`
	Rehearsal load.Rehearsal `json:"rehearsal"`
	Notes     []string       `json:"notes,omitempty"`
	Partial   bool           `json:"partial,omitempty"`
	Options   search.Options `json:"options"`
}

// An Observed is a run with every sensor on and what follows from it.
type Observed struct {
	Run      iikanji.RunID      `json:"run"`
	With     []iikanji.ChangeID `json:"with"` // changes that were applied
	Binding  string             `json:"binding,omitempty"`
	Seconds  float64            `json:"statement_seconds"`
	CPU      float64            `json:"cpu_seconds"`
	Sensors  []observe.Sensor   `json:"sensors"`
	Findings []iikanji.Finding  `json:"findings"`
	Error    string             `json:"error,omitempty"` // why it could not be read

	detail *Detail
}

// A Software is a program of the site with its version.
type Software struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// A Note is a text that a person added to the history.
type Note struct {
	At   time.Time     `json:"at"`
	Run  iikanji.RunID `json:"run,omitempty"`
	Text string        `json:"text"`
}

// Title is the name of the site, for people.
func (s *Summary) Title() string { return cmp.Or(s.Name, s.Target) }

// Load reads a history. target is the name of the target, for commands.
func Load(h *history.History, target string) (*Summary, error) {
	rec, err := tune.ReadRecord(h)
	if err != nil {
		return nil, err
	}
	l := &loader{h: h, rec: rec, states: statesOf(h.Events()), s: &Summary{Version: Version, Target: target, Warnings: h.Warnings()}}
	for _, part := range []func() error{l.runs, l.observed, l.changes, l.trials, l.headline, l.compare, l.rest} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	l.hideFolders()
	return l.s, nil
}

// A loader fills in a Summary.
type loader struct {
	h      *history.History
	rec    *tune.Record
	states map[iikanji.RunID]state
	loaded map[iikanji.RunID]*iikanji.Run
	s      *Summary
}

// observed reads the runs that sensors saw.
func (l *loader) observed() error {
	for i := range l.s.Runs {
		r := &l.s.Runs[i]
		if r.Part != PartObserved {
			continue
		}
		o := Observed{Run: r.ID, With: r.With}
		d, err := Of(l.h, r.ID)
		if err == nil && d.Diagnosis == nil {
			err = fmt.Errorf("run %d: its observation is not complete", r.ID)
		}
		if err != nil {
			o.Error = err.Error() // the rest of the history is shown all the same
			l.s.Observed = append(l.s.Observed, o)
			continue
		}
		o.detail, o.Sensors, o.Findings = d, d.Diagnosis.Sensors, d.Diagnosis.Findings
		for i := range o.Findings {
			o.Findings[i].Evidence = withoutValues(o.Findings[i].Evidence)
		}
		o.Binding, o.Seconds, o.CPU = d.Diagnosis.Binding, d.Diagnosis.Statements, d.Diagnosis.CPU
		l.s.Observed = append(l.s.Observed, o)
	}
	return nil
}

// Open are the findings of the latest observed run.
func (s *Summary) Open() []iikanji.Finding {
	if n := len(s.Observed); n > 0 {
		return s.Observed[n-1].Findings
	}
	return nil
}

// RunOf returns the run of a number.
func (s *Summary) RunOf(id iikanji.RunID) (*Run, bool) {
	for i := range s.Runs {
		if s.Runs[i].ID == id {
			return &s.Runs[i], true
		}
	}
	return nil, false
}
