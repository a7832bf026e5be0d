package main

import (
	"fmt"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/report"
)

// tidy packs and prunes the raw files of old runs. It prints what it removed; an
// error is only printed, because the runs are saved.
func tidy(e *env, h *history.History) {
	p, err := h.Pack(history.PackAfter, history.MaxRaw)
	switch {
	case err != nil:
		fmt.Fprintln(e.Stderr, "warning:", report.Clean(err.Error()))
	case p.Pruned > 0:
		fmt.Fprintf(e.Stderr, "removed %s of the oldest runs: the raw files of a history may take %s\n", report.Number(p.Pruned, "raw file"), report.Size(history.MaxRaw))
	}
}
