package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
)

type historyShowCmd struct {
	Target string `arg:"" help:"Target whose history to show, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	Number int    `arg:"" name:"run" help:"Number of the run."`

	JSON     bool `help:"Print one JSON document."`
	Literals bool `help:"Show literals of statements, and what may be a secret; by default they are redacted."`
	placeFlags
}

// Help returns the long help of the command.
func (historyShowCmd) Help() string {
	return `Shows one run: its score with the reasons, the changes that were applied, its
place in a trial, notes, the CPU use of each service by second, and of an
observed run the sensors and where the time of the database went.

Examples:
  iikanji history show isucondition 7
  iikanji history show isucondition 7 --json

Exit status: 0 done, 1 failed to run (also: there is no such run), 2 usage.`
}

// Run runs the command.
func (c *historyShowCmd) Run(_ context.Context, e *env) error {
	h, err := c.open(e, c.Target)
	if err != nil {
		return err
	}
	defer h.Close()
	d, err := detailOf(h, c.Number)
	if err != nil {
		return err
	}
	if !c.Literals {
		redact.Document(d)
	}
	if c.JSON {
		return writeJSON(e.Stdout, d)
	}
	if err := report.RunText(e.Stdout, d.Run, e.Cols); err != nil {
		return err
	}
	sides, err := sidesOf(h)
	if err != nil {
		return err
	}
	out := &output{w: e.Stdout}
	out.line("")
	out.wrapped("changes applied: "+numbersText(d.With), e.Cols)
	if s := sides[d.Run.ID]; len(s) > 0 {
		out.wrapped("evidence of: "+strings.Join(s, ", "), e.Cols)
	}
	for _, n := range d.Notes {
		out.wrapped(fmt.Sprintf("note of %s: %s", n.At.UTC().Format(time.DateTime), n.Text), e.Cols)
	}
	if m := d.Run.Machine; m != nil {
		out.wrapped(fmt.Sprintf("machine: %s, %d cores, %s; %s, %s; iikanji %s", m.CPU, m.Cores, m.Memory, m.System, m.Kernel, m.Program), e.Cols)
	}
	if d.Host != nil {
		out.line("\nCPU in cores by second, from 0 to the peak")
		for _, s := range d.Host.Services {
			out.line("  %-12s %s  peak %.2f", report.Clean(s.Name), report.Spark(s.Cores, max(e.Cols-30, 10)), peak(s.Cores))
		}
	}
	if out.err != nil {
		return out.err
	}
	return c.observed(e, d)
}

// observed prints what the sensors saw.
func (c *historyShowCmd) observed(e *env, d *summary.Detail) error {
	if d.Diagnosis == nil {
		return nil
	}
	out := &output{w: e.Stdout}
	out.line("\nSensors")
	for _, s := range d.Diagnosis.Sensors {
		state := "proven"
		if !s.Green {
			state = "RED, not used: " + s.Why()
		}
		out.line("  %s", report.Shorten(report.Clean(s.Name+": "+state), e.Cols-2))
	}
	if out.err != nil {
		return out.err
	}
	fmt.Fprintln(e.Stdout)
	return findingsPage(d.Diagnosis).Write(e.Stdout, report.Text, e.Cols)
}

func peak(values []float64) (most float64) {
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

// numbersText lists numbers, "none" for none.
func numbersText(ids []iikanji.ChangeID) string {
	if len(ids) == 0 {
		return "none"
	}
	var parts []string
	for _, id := range ids {
		parts = append(parts, fmt.Sprint(int(id)))
	}
	return strings.Join(parts, ", ")
}

// open opens the history of a target for reading, and prints its damage.
func (f placeFlags) open(e *env, target string) (*history.History, error) {
	a, err := findTarget(target)
	if err != nil {
		return nil, err
	}
	_, dir, err := f.folders(a)
	if err != nil {
		return nil, err
	}
	h, err := history.View(dir)
	if err != nil {
		return nil, err
	}
	printDamage(e, h)
	return h, nil
}

// printDamage prints what is damaged in a history.
func printDamage(e *env, h *history.History) {
	for _, w := range h.Warnings() {
		fmt.Fprintln(e.Stderr, "warning:", report.Clean(w))
	}
}

// detailOf reads a run.
func detailOf(h *history.History, n int) (*summary.Detail, error) {
	d, err := summary.Of(h, iikanji.RunID(n))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hinted(fmt.Errorf("there is no run %d in %s", n, h.Dir()), "iikanji history TARGET --runs lists them")
	}
	return d, err
}
