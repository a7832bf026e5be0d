package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/portalbench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/loader"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// byPortal reports whether the runs of a target are started by a person in a portal.
func (t *namedTarget) byPortal() bool {
	return t.file != nil && t.file.Bench.How == target.BenchPortal
}

// portalOf is the loader of a site whose benchmarker is in a portal. A run of it is kept
// from the begin of its load on.
func (r *benchRun) portalOf(s *livesite.Subject, h *history.History) field.Loader {
	f := s.File()
	who := r.e.who(context.Background(), r.target)
	log := s.AccessLog
	if r.unlogged {
		log = nil
	}
	return &portalbench.Portal{Site: f.Site, URL: s.URL(), Bench: f.Bench, Host: s.Front(), AccessLog: log, Prepare: s.Prepare(),
		Budget: func() (portalbench.Budget, error) { return r.budget(h) },
		Now:    r.e.Now, In: r.e.Stdin, Ask: r.e.Stderr, Who: who, Patient: r.patient,
		Keep: h.SaveRun,
		Another: func(l portalbench.Load) error {
			_, err := portalbench.Record(h, f.Site, l, "nobody announced this load")
			return err
		},
		Given: func(id iikanji.RunID) ([]portalbench.Given, error) { return portalbench.ReadGiven(h.Dir(), id) },
		Add:   func(id iikanji.RunID, g portalbench.Given) error { return portalbench.Give(h.Dir(), id, g) }}
}

// budget is what the portal still allows.
func (r *benchRun) budget(h *history.History) (portalbench.Budget, error) {
	b := &r.target.file.Bench
	if b.MaxRuns > 0 {
		if _, runs, err := pastScores(h); err != nil || runs >= b.MaxRuns {
			return portalbench.Budget{}, errors.Join(err, &loader.SpentError{Runs: b.MaxRuns})
		}
	}
	return portalbench.BudgetOf(h, b, true)
}

// settle writes scores into their runs that were given while no command could.
func settle(e *env, h *history.History) error {
	done, err := portalbench.Settle(h)
	for _, run := range done {
		fmt.Fprintf(e.Stderr, "run %d: %s\n", run.ID, settledText(run))
	}
	return err
}

// settledText is what became of a run when its score was given.
func settledText(run *iikanji.Run) string {
	text := run.Outcome.String()
	if run.Outcome == iikanji.Passed {
		text += " " + scoreText(run.Score)
	}
	if n := len(run.Notes); n > 0 {
		text += " (" + run.Notes[n-1] + ")"
	}
	return text
}
