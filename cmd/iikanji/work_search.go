package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/show/report"
)

// observed keeps the state at the begin of an observed run, and says what was changed by hand
// since the kept state. The run itself has no state: its score does not compare with others.
func (b *benchWork) observed(r *benchRun, run iikanji.RunID) {
	if b == nil {
		return
	}
	err := b.day.Save(b.state, run)
	if err == nil {
		err = b.handSince(func(line string) { r.progress.Say("%s", line) })
	}
	if err != nil {
		r.progress.Say("the state of the site is not kept: %s", report.Clean(err.Error()))
	}
}

// handSince says how much was changed by hand since the kept state, and each edit that has no
// effect or will lose it.
func (b *benchWork) handSince(say func(line string)) error {
	base, err := b.day.Base()
	if err != nil {
		return err
	}
	edits, err := b.day.Edits(base.State, b.state)
	if err != nil {
		return err
	}
	hand := work.ByHand(edits)
	if len(hand) > 0 {
		say(fmt.Sprintf("changed by hand since run %d: %s (iikanji work)", base.Run, report.Number(len(hand), "edit")))
	}
	for _, e := range hand {
		if e.Warning != "" {
			say(report.Clean(work.Line(e)))
		}
	}
	return nil
}

// searchWork keeps the state of a site at the begin of a search, and returns what keeps the
// state at its end: of its first run and of its last one.
func (r *benchRun) searchWork(ctx context.Context, w *liveTarget, h *history.History, say func(line string)) (end func()) {
	begin := r.beginWork(ctx, r.field(h, w.Subject, nil))
	if begin == nil {
		return func() {}
	}
	before := lastRun(h)
	if err := begin.handSince(say); err != nil && before > 0 { // before the first run there is no state
		say("the state of the site is not compared: " + report.Clean(err.Error()))
	}
	return func() {
		ids, err := h.Runs()
		if err != nil || len(ids) == 0 || ids[len(ids)-1] == before {
			return // it has made no run
		}
		i := slices.IndexFunc(ids, func(id iikanji.RunID) bool { return id > before })
		err = begin.day.Save(begin.state, ids[i])
		after, lookErr := begin.day.Look(context.WithoutCancel(ctx))
		if err == nil && lookErr == nil && len(ids) > i+1 {
			after.Ends = ids[i]
			lookErr = begin.day.Save(after, ids[len(ids)-1])
		}
		if err == nil {
			err = lookErr
		}
		if err != nil {
			say("the state of the site is not kept: " + report.Clean(err.Error()))
		}
	}
}

// lastRun is the latest run of a history, 0 for none.
func lastRun(h *history.History) iikanji.RunID {
	ids, err := h.Runs()
	if err != nil || len(ids) == 0 {
		return 0
	}
	return ids[len(ids)-1]
}
