package main

import (
	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/field"
	"github.com/iikanji/iikanji/internal/history"
)

// searchField is the place of a search's runs: the free space of the work
// folder is watched, and the runs draw nothing themselves.
func (r *benchRun) searchField(h *history.History, w *liveTarget, noisy bool) *field.Field {
	f := r.field(h, w.Subject, r.scenarioOf(w.Subject))
	f.Dir, f.Noisy, f.Boot = r.Dir, noisy, 0
	f.Progress = func(bench.Progress) {}
	return f
}
