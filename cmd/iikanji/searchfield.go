package main

import (
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

var (
	_ tune.Field    = (*field.Field)(nil)
	_ tune.Comparer = (*tellingField)(nil)
)

// searchField returns the field for the runs of a search. Its runs print no progress.
func (r *benchRun) searchField(h *history.History, w *liveTarget, noisy bool) *field.Field {
	f := r.field(h, w.Subject, r.loaderOf(w.Subject, h))
	f.Before = r.before
	f.Noisy, f.Boot, f.Rest, f.Host = noisy, 0, r.e.Rest, r.e.Machine
	f.Progress = func(bench.Progress) {}
	return f
}
