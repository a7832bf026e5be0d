package portalbench

import (
	"context"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Watch keeps loads that nobody announced.
type Watch struct {
	Host  host.Host
	Log   string // access log
	Quiet time.Duration
	Now   func() time.Time
	// Busy reports whether a command works that sees the load itself; nil for never.
	Busy func() (bool, error)
	// Keep keeps a load; an error is said and the watch goes on.
	Keep func(l Load) error
	Say  func(line string)
}

// Run watches until ctx is done.
func (w *Watch) Run(ctx context.Context) error {
	log, err := openTail(w.Host, w.Log)
	if err != nil {
		return err
	}
	defer log.close()
	d := Detector{Quiet: w.Quiet}
	skip := false
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if l, ok := d.Stop(); ok && !skip {
				w.keep(l)
			}
			return nil
		case <-tick.C:
		}
		b, err := log.read()
		if err != nil {
			return err
		}
		for _, l := range d.See(w.Now(), b) {
			if l.To.IsZero() {
				if skip = w.busy(); !skip {
					w.Say("a load began at " + clockText(l.From))
				}
				continue
			}
			if !skip {
				w.keep(l)
			}
		}
	}
}

func (w *Watch) busy() bool {
	if w.Busy == nil {
		return false
	}
	busy, err := w.Busy()
	return err == nil && busy
}

func (w *Watch) keep(l Load) {
	if err := w.Keep(l); err != nil {
		w.Say("the load from " + clockText(l.From) + " to " + clockText(l.To) + " is not kept: " + err.Error())
	}
}

// Record saves a load as a run whose score is not given yet.
func Record(h *history.History, site string, l Load, why string) (iikanji.RunID, error) {
	id, _, err := h.NewRun()
	if err != nil {
		return 0, err
	}
	run := NewRun(site, id)
	run.Began, run.Took = l.From, max(0, l.To.Sub(l.From))
	run.Phases = append(run.Phases, iikanji.PhaseStat{Phase: string(scenario.Load), Took: run.Took})
	run.Notes = append(run.Notes, why)
	return id, h.SaveRun(run)
}
