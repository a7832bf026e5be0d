package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/show/report"
)

type applyCmd struct {
	Target string   `arg:"" help:"Target to change, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	Codes  []string `arg:"" optional:"" name:"code" help:"Finding to remedy, as in DB101 (the best remedy that can be planned) or DB101.2; or a kind of change, its act and its arguments, as iikanji plan has them."`

	File   string `help:"Apply the one remedy of this JSON file instead; - is standard input." placeholder:"FILE"`
	Of     int    `name:"run" help:"Take the findings of this observed run (default: the latest)." placeholder:"N"`
	DryRun bool   `help:"Show the change only; apply and record nothing."`
	Keep   bool   `help:"Keep the change; --no-keep reverts it at once, to test that it can be applied and undone." default:"true" negatable:""`
	JSON   bool   `help:"Print one JSON document."`
	// Unkept leaves the change applied and not kept: the next trial of the judge
	// undoes it first.
	Unkept bool `kong:"-"`
	clockFlag
	placeFlags
}

// Help returns the long help of the command.
func (applyCmd) Help() string {
	return `Makes one change: plans it, records the change and its undo in the history,
applies it, and prints its diff and its number. It does not measure the effect:
iikanji bench and iikanji tune do. If a step fails, the steps before it are
undone at once. After kill -9, use iikanji recover.

The target is brought up for this and taken down again; the change stays.

Examples:
  iikanji apply isucondition DB101 --dry-run
  iikanji apply isucondition DB101
  iikanji apply isucondition WEB102.1 --run 7
  iikanji apply isucondition --file remedy.json
  iikanji apply . topology move service=mariadb to=db

Exit status: 0 applied, or nothing to change; 1 failed to run (no change is
left), 2 usage.`
}

// Run runs the command.
func (c *applyCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	if (len(c.Codes) == 0) == (c.File == "") || c.File != "" && c.Of != 0 {
		return usageError("want either a finding's code (and --run) or --file")
	}
	if typed, err := typedRemedy(c.Codes); err != nil {
		return err
	} else if typed == nil && len(c.Codes) > 1 {
		return usageError("want one code: apply takes one remedy at a time")
	}
	dir, hist, err := c.folders(a)
	if err != nil {
		return err
	}
	o, err := c.options(e, hist, a.Name)
	if err != nil {
		return err
	}
	h, err := openHistory(ctx, e, a, dir, hist, acting{what: "apply", changes: true, clockFlag: c.clockFlag})
	if err != nil {
		return err
	}
	defer h.Close()
	if err := refuseHalfDoneOrAway(h, a, c.placeFlags); err != nil {
		return err
	}
	var chosen *plannedRemedy
	err = withLiveTarget(ctx, e, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
		if chosen, err = o.choose(ctx, w.Site()); err != nil || chosen.Change == nil || c.DryRun {
			return err
		}
		w.progress.Say("applying: %s", report.Clean(chosen.Change.Says))
		return c.apply(ctx, w.executor(h), h, chosen)
	})
	if err != nil {
		return err
	}
	return c.print(e, chosen)
}

// options returns the remedies that match the command line.
func (c *applyCmd) options(e *env, hist, arena string) (*remedyList, error) {
	if c.File != "" {
		o, err := readRemedies(e.Stdin, c.File)
		if err == nil && len(o.Plans) != 1 {
			err = usageError("%s: it has %d remedies; apply takes one at a time", c.File, len(o.Plans))
		}
		return o, err
	}
	if typed, err := typedRemedy(c.Codes); typed != nil || err != nil {
		return typed, err
	}
	all, err := remediesOf(hist, iikanji.RunID(c.Of), arena)
	if err != nil {
		return nil, err
	}
	o := all.only(c.Codes, nil)
	if len(o.Plans) == 0 {
		return nil, hinted(fmt.Errorf("run %d has no remedy %s", all.Run, report.Clean(c.Codes[0])), fmt.Sprintf("iikanji plan %s lists its remedies", arena))
	}
	return o, nil
}

// choose plans one remedy after the other and returns the first that can be
// applied. If none can be, it returns the first with nothing to change, whose
// Change is nil.
func (o *remedyList) choose(ctx context.Context, site *change.Site) (*plannedRemedy, error) {
	var idle *plannedRemedy
	var whys []string
	for i := range o.Plans {
		p := &o.Plans[i]
		p.plan(ctx, site)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case p.Change != nil && len(p.Forbidden) == 0:
			return p, nil
		case p.Change != nil:
			why := fmt.Sprintf("%s weakens %s, which the target's policy does not allow", p.name(), inWords(p.Forbidden))
			if len(p.Remedy.Unsorted) > 0 {
				why += ": rows may come in another order at " + report.Clean(p.Remedy.Unsorted[0])
			}
			whys = append(whys, why)
		case errors.Is(p.err, change.ErrNothing):
			if idle == nil {
				idle = p
			}
		default:
			whys = append(whys, p.name()+": "+report.Clean(p.Why))
		}
	}
	if idle != nil {
		return idle, nil
	}
	return nil, errors.New("no remedy can be applied: " + strings.Join(whys, "; "))
}

// name is the name of a remedy in a message.
func (p *plannedRemedy) name() string {
	if p.Ref != "" {
		return p.Ref
	}
	return p.Remedy.Kind + " on " + report.Clean(p.Remedy.Target)
}

// apply records the change and applies it; with --no-keep it then reverts it.
func (c *applyCmd) apply(ctx context.Context, x *change.Executor, h *history.History, p *plannedRemedy) error {
	if err := h.AddChange(p.Change, p.Diff); err != nil {
		return err
	}
	if err := x.Apply(ctx, p.Change.ID); err != nil {
		return err
	}
	var err error
	switch {
	case c.Unkept:
	case c.Keep:
		err = x.Keep(p.Change.ID, "applied by hand, not judged")
	default:
		err = x.Revert(ctx, p.Change.ID, "applied with --no-keep")
	}
	if err != nil {
		return err
	}
	now, err := h.LoadChange(p.Change.ID)
	if err == nil {
		p.Change.Stage = now.Stage
	}
	return err
}

func (c *applyCmd) print(e *env, p *plannedRemedy) error {
	if c.JSON {
		return writeJSON(e.Stdout, p)
	}
	out := &output{w: e.Stdout, color: e.Color}
	if p.Change == nil {
		out.line("nothing to change for %s: %s", p.name(), report.Clean(p.Why))
		return out.err
	}
	p.write(out, p.Diff)
	undo := fmt.Sprintf("iikanji revert %s %d%s", c.Target, p.Change.ID, c.flags())
	switch {
	case c.DryRun:
		out.line("\nnothing was changed")
	case c.Keep:
		out.line("\nchange %d is applied; %s undoes it", p.Change.ID, undo)
	default:
		out.line("\nchange %d was applied and reverted", p.Change.ID)
	}
	return out.err
}

// codeOf is a code as the words of the command; none for "".
func codeOf(code string) []string {
	if code == "" {
		return nil
	}
	return []string{code}
}
