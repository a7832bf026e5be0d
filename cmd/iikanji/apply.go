package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/stack"
)

type applyCmd struct {
	Target string `arg:"" help:"Target to change: the name of an arena, as in isucondition."`
	Code   string `arg:"" optional:"" help:"What to cure, as in DB101 (the best remedy that can be planned) or DB101.2."`

	File   string `help:"Apply the one remedy of this JSON file instead; - is standard input." placeholder:"FILE"`
	Of     int    `name:"run" help:"Take the findings of this observed run (default: the latest)." placeholder:"N"`
	DryRun bool   `help:"Show what would be done; change nothing, note nothing."`
	Keep   bool   `help:"Let it stay; --no-keep takes it back at once, to see that both ways work." default:"true" negatable:""`
	JSON   bool   `help:"Print one JSON document."`
	placeFlags
}

// Help is the long help of the command.
func (applyCmd) Help() string {
	return `Makes one change by hand: plans it, writes plan and undo into the history,
applies it, and prints its diff and its number. Whether it helps is for iikanji
bench, or for iikanji tune, to say. When anything goes wrong on the way, what
was done is undone at once; after kill -9, iikanji recover does that.

The arena is brought up for it and taken down again; the change stays.

Examples:
  iikanji apply isucondition DB101 --dry-run
  iikanji apply isucondition DB101
  iikanji apply isucondition WEB102.1 --run 7
  iikanji apply isucondition --file remedy.json

Exit status: 0 applied, or nothing to do; 1 failed to run (nothing is left
changed), 2 usage.`
}

// Run is the command.
func (c *applyCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	if (c.Code == "") == (c.File == "") || c.File != "" && c.Of != 0 {
		return usageError("want either a finding's code (and --run) or --file")
	}
	dir, hist, err := c.folders(a)
	if err != nil {
		return err
	}
	o, err := c.options(e, hist, a.Name)
	if err != nil {
		return err
	}
	h, err := history.Open(hist)
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

// options are the remedies that fit what the person named.
func (c *applyCmd) options(e *env, hist, arena string) (*remedyList, error) {
	if c.File != "" {
		o, err := readRemedies(e.Stdin, c.File)
		if err == nil && len(o.Plans) != 1 {
			err = usageError("%s: it has %d remedies, one is applied at a time", c.File, len(o.Plans))
		}
		return o, err
	}
	all, err := remediesOf(hist, iikanji.RunID(c.Of), arena)
	if err != nil {
		return nil, err
	}
	o := all.only([]string{c.Code}, nil)
	if len(o.Plans) == 0 {
		return nil, hinted(fmt.Errorf("run %d has no remedy %s", all.Run, report.Clean(c.Code)), fmt.Sprintf("iikanji plan %s lists what it has", arena))
	}
	return o, nil
}

// choose plans one remedy after the other until one can be applied. One that
// finds nothing to do is the choice when no other can; its Change is nil.
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
			whys = append(whys, fmt.Sprintf("%s weakens %s, which the target's policy does not allow", p.name(), inWords(p.Forbidden)))
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
	return nil, errors.New("it cannot be applied: " + strings.Join(whys, "; "))
}

// name is what a remedy is called in a sentence.
func (p *plannedRemedy) name() string {
	if p.Ref != "" {
		return p.Ref
	}
	return p.Remedy.Kind + " on " + report.Clean(p.Remedy.Target)
}

// apply writes the change down and does it; --no-keep takes it back.
func (c *applyCmd) apply(ctx context.Context, x *change.Executor, h *history.History, p *plannedRemedy) error {
	if err := h.AddChange(p.Change, p.Diff); err != nil {
		return err
	}
	if err := x.Apply(ctx, p.Change.ID); err != nil {
		return err
	}
	var err error
	if c.Keep {
		err = x.Keep(p.Change.ID, "applied by hand, not judged")
	} else {
		err = x.Revert(ctx, p.Change.ID, "only tried, by hand")
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
		out.line("nothing to do for %s: %s", p.name(), report.Clean(p.Why))
		return out.err
	}
	p.write(out)
	undo := fmt.Sprintf("iikanji revert %s %d%s", c.Target, p.Change.ID, c.flags())
	switch {
	case c.DryRun:
		out.line("\nnothing was changed")
	case c.Keep:
		out.line("\nchange %d is applied; %s takes it back", p.Change.ID, undo)
	default:
		out.line("\nchange %d was applied and taken back", p.Change.ID)
	}
	return out.err
}
