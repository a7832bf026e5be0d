package main

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/dayreport"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/summary"
)

// writeDay writes the day of a team.
func (c *reportCmd) writeDay(e *env, t *namedTarget, h *history.History, s *summary.Summary, form string) error {
	if form == "html" && c.Out == defaultReport {
		c.Out, form = "day.md", "markdown"
	}
	if form != "markdown" && form != "json" {
		return usageError("--day is written as Markdown or JSON: want a name that ends in .md or .json")
	}
	day, err := c.dayOf(e, t, h, s)
	if err != nil {
		return err
	}
	if !c.Literals {
		redact.Document(day)
	}
	write := day.Markdown
	if form == "json" {
		write = func(w io.Writer) error { return writeJSON(w, day) }
	}
	if c.Out == "-" {
		return write(e.Stdout)
	}
	if err := writeWhole(c.Out, write); err != nil {
		return err
	}
	return c.wrote(e, s, c.Out)
}

// dayOf reads the day from the history, the states of its runs and the turns.
func (c *reportCmd) dayOf(e *env, t *namedTarget, h *history.History, s *summary.Summary) (*dayreport.Day, error) {
	dir, hist, err := c.folders(t)
	if err != nil {
		return nil, err
	}
	in := dayreport.Input{Site: t.Name, Notes: map[iikanji.RunID][]string{}, Left: s.Open()}
	if t.file != nil {
		in.Site = t.file.Site
		in.Begin, in.End = time.Time(t.file.Contest.Begin), time.Time(t.file.Contest.End)
	}
	for _, r := range s.Runs {
		in.Notes[r.ID] = r.Notes
	}
	for _, ev := range h.Events() {
		if ev.What == history.Noted && strings.Contains(ev.Text, provePrefix) {
			in.Proofs = append(in.Proofs, ev.Text)
		}
	}
	if in.Turns, err = e.turnOf(hist).Log(); err != nil {
		return nil, err
	}
	ids, err := h.Runs()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		r, err := h.LoadRun(id)
		if err != nil || r.Watched || r.Outcome == iikanji.OutcomeUnknown {
			continue // not saved, or no run of the benchmarker
		}
		in.Runs = append(in.Runs, r)
	}
	states := statesOf(h, dir)
	in.Edits = editsOfDay(states)
	if states != nil { // of a site: those of bench, without those of searches and proofs if there are any
		own := slices.DeleteFunc(slices.Clone(in.Runs), func(r *iikanji.Run) bool { return !states.Benched(r) })
		if len(own) > 0 {
			in.Runs, in.Others = own, len(in.Runs)-len(own)
		}
	}
	return dayreport.Of(in), nil
}

// editsOfDay lists the edits by hand between the states of two runs; nil if no run has a
// state.
func editsOfDay(d *work.Day) func(before, after iikanji.RunID) []string {
	if d == nil {
		return nil
	}
	return func(before, after iikanji.RunID) (lines []string) {
		a, errA := d.Store.LoadState(before)
		b, errB := d.Store.LoadState(after)
		if errors.Is(errA, fs.ErrNotExist) || errors.Is(errB, fs.ErrNotExist) {
			return nil // a run of a search, or one before states were taken
		}
		if errA != nil || errB != nil {
			return []string{"the states of these runs cannot be read"}
		}
		edits, err := d.Edits(a, b)
		if err != nil {
			return []string{"the edits cannot be read"}
		}
		for _, one := range work.ByHand(edits) {
			lines = append(lines, work.Line(one))
		}
		return lines
	}
}
