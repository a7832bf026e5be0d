package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/choose"
	"github.com/iikanji/iikanji/internal/day/past"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/target"
)

type chooseCmd struct {
	Target string `arg:"" optional:"" help:"Target whose history to read, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`

	Final string  `help:"Which run registers its score: the last one before the end, or the best one (default: final below [contest], else last)." enum:"last,best," default:"" placeholder:"last|best"`
	Floor float64 `help:"Share of the registered score that a run after the contest must reach (default: floor below [contest], else 0.75)." placeholder:"SHARE"`
	JSON  bool    `help:"Print one JSON document."`
	placeFlags
}

// Help returns the long help of the command.
func (chooseCmd) Help() string {
	return `Shows which state of the site to end a contest with: for each state its runs,
the chance that the next run passes, the chance that it reaches the floor of the
registered score, and what the state is worth: the score times both. It tells
when to stop pressing, and names the last known good state. It reads the
history, and starts and changes nothing. iikanji help method has the formulas.

Examples:
  iikanji choose isucondition
  iikanji choose isucondition --final best --floor 0.8
  iikanji choose isucondition --json

Exit status: 0 there is a state to end with, 1 failed to run (also: no run has
passed), 2 usage.`
}

// rules fills in what the flags leave open: the rules of the site's contest, or the usual ones.
func (c *chooseCmd) rules(t *namedTarget) {
	var contest target.Rules
	if t.file != nil {
		contest = t.file.Contest
	}
	if c.Final == "" {
		c.Final = string(cmp.Or(contest.Final, target.FinalLast))
	}
	if c.Floor == 0 {
		c.Floor = contest.Least()
	}
}

// Run runs the command.
func (c *chooseCmd) Run(_ context.Context, e *env) error {
	if c.Floor < 0 || c.Floor > 1 {
		return usageError("--floor %g: want more than 0, up to 1", c.Floor)
	}
	t, err := findTargetOrHere(c.Target)
	if err != nil {
		return err
	}
	c.rules(t)
	dir, hist, err := c.folders(t)
	if err != nil {
		return err
	}
	h, err := history.View(hist)
	if err != nil {
		return err
	}
	defer h.Close()
	runs, err := past.Runs(h, stateByHand(h, dir))
	if err != nil {
		return err
	}
	choice := choose.Among(runs, choose.Rules{Final: choose.Final(c.Final), Floor: c.Floor})
	redact.Document(&choice) // notes and what changes say
	if c.JSON {
		err = writeJSON(e.Stdout, choice)
	} else {
		err = printChoice(e, &choice)
	}
	if err == nil && choice.With < 0 {
		err = &exitError{Status: exitFailed, Err: fmt.Errorf("no run of %s has passed", t.Name), Hints: []string{"iikanji bench " + t.Name + " makes a run"}}
	}
	return err
}

// printChoice writes the table of states, the latest first, and the advice.
func printChoice(e *env, c *choose.Choice) error {
	if len(c.Rows) == 0 {
		return nil
	}
	t := report.Table{Columns: []report.Column{{Name: "state", Left: true, Shrink: true}, {Name: "runs"}, {Name: "passed"}, {Name: "median"},
		{Name: "pass", Label: "chance to"}, {Name: fmt.Sprintf("keep %.0f %%", 100*c.Floor), Tight: true}, {Name: "worth"}, {Name: "", Left: true}}}
	for i := len(c.Rows) - 1; i >= 0; i-- {
		r := &c.Rows[i]
		cells := []string{r.Says, strconv.Itoa(len(r.Runs)), strconv.Itoa(r.Passed), "-", share(r.Passes), "-", "-", ""}
		if r.Passed > 0 {
			cells[3], cells[5], cells[6] = report.Count(int64(r.Median)), share(r.Again), report.Count(int64(r.Worth))
		}
		if i == c.With {
			cells[7] = "← end here"
		}
		t.Rows = append(t.Rows, cells)
	}
	out := &output{w: e.Stdout, color: e.Color}
	out.table(&t, e.Cols)
	if c.With < 0 {
		return out.err
	}
	row := &c.Rows[c.With]
	if p := c.Press; p.MoreRuns > 0 {
		out.wrapped(fmt.Sprintf("%d of %d still allows a failure rate of %s; %d more clean runs: %s", row.Passed, len(row.Runs), share(p.Rate), p.MoreRuns, share(p.More)), e.Cols)
	}
	press := "stop pressing: "
	if c.Press.Again {
		press = "press again: "
	}
	out.wrapped(press+c.Press.Why, e.Cols)
	spread := fmt.Sprintf("spread of the scores of one state: %.1f %%", 100*c.Spread.Sigma)
	if c.Spread.Assumed {
		spread += " (fewer than four repeated runs: 8 % is assumed for the missing ones)"
	}
	out.wrapped(spread, e.Cols)
	if c.Good >= 0 {
		out.wrapped("last known good: "+c.Rows[c.Good].Says, e.Cols)
	} else {
		out.wrapped("no last known good state yet: it takes three runs that passed, and a rehearsal (iikanji finalize) without a loss", e.Cols)
	}
	return out.err
}

// share is a chance in whole percent; one that is neither certain nor impossible is not
// rounded to that.
func share(p float64) string {
	switch {
	case p > 0.99 && p < 1:
		return "> 99 %"
	case p < 0.01 && p > 0:
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*p)
}
