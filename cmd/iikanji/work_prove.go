package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/show/report"
)

type workProveCmd struct {
	Number int `arg:"" optional:"" name:"run" help:"Compare with the state of this run (default: the last kept state)."`

	Each  bool          `help:"Also prove each edit alone: the present state with and without it."`
	Day   bool          `help:"Prove each step of the history instead: the state of each run against that of the run before."`
	Pairs int           `help:"Most pairs of runs for one proof." default:"8" placeholder:"N"`
	Time  time.Duration `help:"Begin no pair after this time." default:"1h"`
	Load  time.Duration `help:"Length of the load of a run (default: that of the benchmarker)."`
	Seed  uint64        `help:"Seed of the order of runs." default:"1"`
	JSON  bool          `help:"Print one JSON document."`
	workFlags
	clockFlag
}

// Help returns the long help of the command.
func (workProveCmd) Help() string {
	return `Compares the present state with the kept one by the rule of the judge: both are
brought up in turn, unattended, in pairs of runs in random order, until the pairs prove
a gain, exclude one worth keeping, or are used up. It gives way within a run to a person
who takes the turn. It leaves the site as it is now; after a kill, iikanji recover does. --each does the same for each edit that can be undone
alone. The last kept state must differ in files, variables or indexes only.

Examples:
  iikanji work prove
  iikanji work prove 2 --each --pairs 4
  iikanji work prove --day --pairs 2 --time 2h

Exit status: 0 there is a verdict, 1 failed to run (also: an edit cannot be undone),
2 usage.`
}

// provePrefix begins the note of a proof.
const provePrefix = "work prove"

// A proof is the result for one set of edits.
type proof struct {
	Edits   string          `json:"edits"`
	Verdict iikanji.Verdict `json:"verdict"`
	Pairs   int             `json:"pairs"`
	Skipped string          `json:"skipped,omitempty"`
}

// Run runs the command.
func (c *workProveCmd) Run(ctx context.Context, e *env) error {
	if c.Pairs < 1 || c.Pairs > 100 || c.Load < 0 || c.Load > time.Hour {
		return usageError("--pairs %d, --load %v: want 1 to 100 pairs, and up to 1h", c.Pairs, c.Load)
	}
	if c.Day && (c.Each || c.Number != 0) {
		return usageError("--day is about the states of all runs: it goes without --each and without a run")
	}
	t, dir, hist, err := c.site()
	if err != nil {
		return err
	}
	h, hold, err := openExistingToAct(ctx, e, t, dir, hist, acting{what: "work prove", changes: true, yields: true, clockFlag: c.clockFlag})
	if err != nil {
		return err
	}
	defer h.Close()
	if err := refuseHalfDoneOrAway(h, t, c.placeFlags); err != nil {
		return err
	}
	b := &benchCmd{Target: c.Target, Pin: "off", Dir: dir, History: hist, Seed: c.Seed}
	r, err := b.prepare(e, t)
	if err != nil {
		return err
	}
	r.hold = hold
	defer r.progress.Done()
	var proofs []proof
	err = r.withSubject(ctx, func(ctx context.Context, s field.Subject) error {
		proofs, err = c.prove(ctx, r, h, s)
		return err
	})
	r.progress.Done()
	var way *turn.GaveWayError
	if errors.As(err, &way) {
		err = hinted(fmt.Errorf("%w: the site is as it was before", way), "the same command proves it anew")
	}
	return errors.Join(c.print(e, proofs), err)
}

// prove makes all proofs.
func (c *workProveCmd) prove(ctx context.Context, r *benchRun, h *history.History, s field.Subject) (proofs []proof, err error) {
	w := &liveTarget{Subject: s, progress: r.progress}
	d, err := dayOf(ctx, r.e, r.target, r.Dir, h, w)
	if err != nil {
		return nil, err
	}
	if c.Day {
		p := &prover{c: c, r: r, d: d, field: r.field(h, s, r.loaderOf(s, h)), x: w.executor(h), until: r.e.Now().Add(c.Time)}
		return p.day(ctx)
	}
	base, err := baseOf(d, c.Number)
	if err != nil {
		return nil, noStates(err)
	}
	now, err := d.Look(ctx)
	if err != nil {
		return nil, err
	}
	all := difference.Between(difference.Input{Base: base.State, Now: now, Text: d.Store.Get, Keyed: d.Store.Keyed})
	if len(all) == 0 {
		return nil, fmt.Errorf("nothing differs from the state of run %d: there is nothing to prove", base.Run)
	}
	p := &prover{c: c, r: r, d: d, base: base, now: now, field: r.field(h, s, r.loaderOf(s, h)), x: w.executor(h), until: r.e.Now().Add(c.Time)}
	whole, err := p.one(ctx, report.Number(len(all), "edit"), nil)
	if err != nil {
		return nil, err
	}
	proofs = append(proofs, whole)
	if !c.Each || len(all) == 1 {
		return proofs, nil
	}
	for _, e := range all {
		one, err := p.one(ctx, work.Line(e), func(x difference.Edit) bool { return x.Kind == e.Kind && x.Place == e.Place && x.Host == e.Host })
		var stays *work.StaysError
		if errors.As(err, &stays) {
			one, err = proof{Edits: work.Line(e), Skipped: stays.Error()}, nil
		}
		if err != nil {
			return proofs, err
		}
		proofs = append(proofs, one)
	}
	return proofs, nil
}

// A prover makes proofs of edits.
type prover struct {
	c     *workProveCmd
	r     *benchRun
	d     *work.Day
	base  *work.Base
	now   *state.State
	field *field.Field
	x     *change.Executor
	until time.Time
	outer []iikanji.ChangeID // in force, and undone after the proofs
}

// one proves the edits that are selected; nil selects all.
func (p *prover) one(ctx context.Context, name string, only func(difference.Edit) bool) (out proof, err error) {
	out.Edits = name
	plan, err := p.d.PlanBack(ctx, p.now, p.base.State, only)
	if err != nil {
		return out, err
	}
	if matter := slices.DeleteFunc(slices.Clone(plan.Stays), func(s work.Stay) bool { return !s.Matters }); len(matter) > 0 {
		return out, &work.StaysError{Stays: matter}
	}
	if plan.Change == nil {
		out.Skipped = "nothing of it can be undone by iikanji"
		return out, nil
	}
	plan.Change.Says = fmt.Sprintf("without %s since run %d, to prove them", name, p.base.Run)
	if err := p.d.History.AddChange(plan.Change, change.Diff(plan.Change)); err != nil {
		return out, err
	}
	proving := &work.Proving{Day: p.d, Executor: p.x, Back: plan.Change, Outer: p.outer, Pairs: p.c.Pairs, Seed: p.c.Seed, Known: p.base.Runs, Until: p.until,
		Yield: p.r.hold.GiveWay,
		Say:   func(format string, args ...any) { p.r.progress.Say(format, args...) },
		Bench: func(ctx context.Context, state iikanji.Fingerprint) (*iikanji.Run, string, error) {
			return p.field.Bench(ctx, load.Spec{Load: p.c.Load, State: state})
		},
		States: [2]iikanji.Fingerprint{p.now.Fingerprint, p.base.Fingerprint}}
	if only != nil {
		proving.States[1] = ""
	}
	p.r.progress.Say("proving %s: the present state against that of run %d", report.Clean(name), p.base.Run)
	var pairs []judge.Pair
	out.Verdict, pairs, err = proving.Run(ctx)
	out.Pairs = len(pairs)
	if err != nil {
		return out, err
	}
	return out, p.d.Note(0, fmt.Sprintf("%s, %s since run %d: %s", provePrefix, name, p.base.Run, out.says()))
}

// says is a proof in words.
func (p *proof) says() string {
	if p.Skipped != "" {
		return "not tried: " + p.Skipped
	}
	text := map[iikanji.Call]string{iikanji.Keep: "a proven gain", iikanji.Revert: "no gain worth keeping", iikanji.Inconclusive: "undecided"}[p.Verdict.Call]
	if p.Verdict.Reason == iikanji.Gate {
		text = "a proven harm"
	}
	if v := p.Verdict.Effect; v.Level > 0 {
		text += ": " + effectText(v.Mid, v.Lo, v.Hi)
	}
	text += "; " + report.Number(p.Pairs, "pair")
	if p.Verdict.Why != "" {
		text += "; " + p.Verdict.Why
	}
	return text
}

// print lists the proofs.
func (c *workProveCmd) print(e *env, proofs []proof) error {
	if c.JSON {
		return writeJSON(e.Stdout, struct {
			Proofs []proof `json:"proofs"`
		}{append([]proof{}, proofs...)})
	}
	out := &output{w: e.Stdout, color: e.Color}
	for _, p := range proofs {
		out.line("%s", report.Shorten(report.Clean(p.Edits), max(e.Cols, 40)))
		for _, line := range report.Wrap("  ", "  ", report.Clean(p.says()), max(e.Cols, 40)) {
			out.line("%s", line)
		}
	}
	return out.err
}
