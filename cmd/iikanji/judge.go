package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/report"
)

type judgeCmd struct {
	Target string `arg:"" help:"Target to change, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	Code   string `arg:"" optional:"" help:"Finding to remedy, as in DB101 (the best remedy that can be planned) or DB101.2."`

	File string        `help:"Judge the one remedy of this JSON file instead; - is standard input." placeholder:"FILE"`
	Of   int           `name:"run" help:"Take the findings of this observed run (default: the latest)." placeholder:"N"`
	Time time.Duration `help:"Time limit; a verdict that is not reached by then is \"undecided\"." default:"10m"`
	Load time.Duration `help:"Length of the load of a run." default:"10s"`

	Seed  uint64   `help:"Seed of the offered work and of the order of runs." default:"1"`
	Clock float64  `help:"Speed of virtual time (default: that of the target)." placeholder:"X"`
	Pin   string   `help:"CPUs: auto, split, shared (off), or GENERATOR/STACK as in 0/1." default:"auto"`
	Env   []string `help:"Additional environment variable of the app." placeholder:"K=V" sep:"none"`
	JSON  bool     `help:"Print one JSON document: the attempt with its verdict."`
	clockFlag
	placeFlags
}

// Help returns the long help of the command.
func (judgeCmd) Help() string {
	return `Tries one change: measures the noise if that is not known, runs the target with
and without the change in interleaved pairs, keeps the change if the pairs prove
a gain, and undoes it to the byte otherwise. It is one trial of iikanji tune, and
continues on the same history.

Examples:
  iikanji judge isucondition DB101
  iikanji judge isucondition WEB102.1 --time 5m
  iikanji judge isucondition --file remedy.json --json

Exit status: 0 there is a verdict (kept or undone), 1 failed to run (also:
interrupted; the change is undone), 2 usage, 3 the site fails its checks.`
}

// Run runs the command.
func (c *judgeCmd) Run(ctx context.Context, e *env) error {
	a, err := c.judge(ctx, e)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, a)
	}
	out := &output{w: e.Stdout, color: e.Color}
	out.line("%s", report.Clean(a.Says))
	if a.Skipped != "" {
		out.line("  not tried: %s", report.Clean(a.Skipped))
		return out.err
	}
	what := verdictWord(&a)
	if v := a.Verdict.Effect; v.Level > 0 {
		what += ": " + effectText(v.Mid, v.Lo, v.Hi)
	}
	out.line("  %s; %s", what, report.Number(a.Runs, "run"))
	out.line("  %s", report.Clean(a.Verdict.Why))
	return out.err
}

// judge gives the remedy of the command line its trial.
func (c *judgeCmd) judge(ctx context.Context, e *env) (a search.Attempt, err error) {
	target, err := findTarget(c.Target)
	if err != nil {
		return a, err
	}
	choose := applyCmd{Target: c.Target, Codes: codeOf(c.Code), File: c.File, Of: c.Of, placeFlags: c.placeFlags}
	if (c.Code == "") == (c.File == "") || c.File != "" && c.Of != 0 {
		return a, usageError("want either a finding's code (and --run) or --file")
	}
	_, dir, err := c.folders(target)
	if err != nil {
		return a, err
	}
	remedies, err := choose.options(e, dir, target.Name)
	if err != nil {
		return a, err
	}
	as := &tuneCmd{Target: c.Target, Time: c.Time, Short: c.Load, Full: c.Load, Watch: c.Load, Pairs: 2, Seed: c.Seed, Clock: c.Clock, Pin: c.Pin, Env: c.Env, clockFlag: c.clockFlag, placeFlags: c.placeFlags, as: "judge"}
	err = as.live(ctx, e, target, func(ctx context.Context, r *benchRun, w *liveTarget, h *history.History, o search.Options) error {
		candidate, err := remedies.candidate(ctx, w)
		if err != nil {
			return err
		}
		t, live := as.tuner("judge", r, w, h, o)
		defer func() { live.end(r.e, err) }()
		a, err = t.Judge(ctx, candidate)
		return err
	})
	if err != nil && ctx.Err() == nil && errors.Is(err, tune.ErrChecks) {
		err = &exitError{Status: exitChecks, Err: err}
	}
	return a, err
}

// candidate returns the first remedy that can be applied as a candidate.
func (o *remedyList) candidate(ctx context.Context, w *liveTarget) (search.Candidate, error) {
	p, err := o.choose(ctx, w.Site())
	if err != nil {
		return search.Candidate{}, err
	}
	if p.Change == nil {
		return search.Candidate{}, fmt.Errorf("nothing to change for %s: %s", p.name(), report.Clean(p.Why))
	}
	return search.Candidate{Remedy: p.Remedy, Code: iikanji.Code(p.code()), Where: p.Where, Claim: "asked for"}, nil
}
