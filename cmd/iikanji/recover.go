package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/observe"
)

type recoverCmd struct {
	Target string `arg:"" help:"Target to recover, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`

	Damaged string `help:"What to do with changes whose events in the journal are damaged or missing: show the state of their places, undo them, or complete and keep them." enum:"show,undo,keep" default:"show"`
	JSON    bool   `help:"Print one JSON document: the changes that were undone, put back or kept, and damage of the journal."`
	clockFlag
	placeFlags
}

// Help returns the long help of the command.
func (recoverCmd) Help() string {
	return `Brings the site to a known state after iikanji was killed, or the power failed:
ends the processes that a crashed stack left, undoes half-done changes, tries
again to undo stuck ones, applies again changes that a search had reverted for a
comparison, and removes temporary files. Applied changes stay, but for the move of
a service to another host whose trial was cut off. It is safe to run it twice, or if
no change is half done.

If events of the journal are damaged or missing, it shows for each place of the
changes concerned whether it is as before the change, as after it, or neither,
and changes nothing. --damaged undo or --damaged keep then settles them.

Examples:
  iikanji recover isucondition
  iikanji recover isucondition --damaged undo

Exit status: 0 the state is known, 1 it is not (a change is stuck, or events are
damaged), 2 usage.`
}

// Run runs the command.
func (c *recoverCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	dir, hist, err := c.folders(a)
	if err != nil {
		return err
	}
	h, err := openExisting(ctx, e, a, dir, hist, acting{what: "recover", changes: true, clockFlag: c.clockFlag})
	if err != nil {
		return err
	}
	defer h.Close()
	var done recovered
	tell := func(line string) { fmt.Fprintln(e.Stderr, report.Clean(line)) }
	err = withMachines(ctx, a, true, tell, func() error { return errors.Join(c.all(ctx, e, a, dir, h, &done), downOf(a, dir)) })
	if err := errors.Join(c.print(e, done, err), err); err != nil {
		return err
	}
	return refuseStuck(h, a, c.placeFlags)
}

// all does the steps of the command. An error ends it before the next step.
func (c *recoverCmd) all(ctx context.Context, e *env, a *namedTarget, dir string, h *history.History, done *recovered) error {
	if err := a.sweep(ctx, dir); err != nil {
		return err
	}
	if err := c.settle(ctx, e, a, dir, h, done); err != nil {
		return err
	}
	half, err := interruptedChanges(h)
	if err != nil {
		return err
	}
	away, err := tune.Away(h)
	if err != nil {
		return err
	}
	sensors, err := livesite.SensorsInForce(h)
	if err != nil {
		return err
	}
	logs, err := logsLeft(a, dir)
	if err != nil {
		return err
	}
	proving, err := provingLeft(h, dir)
	if err != nil {
		return err
	}
	moved, err := tune.CutOff(h)
	if err != nil {
		return err
	}
	if len(half)+len(away)+len(moved)+sensors+logs > 0 || len(proving) > 0 {
		if err := c.recover(ctx, e, a, dir, h, half, done); err != nil {
			return err
		}
	}
	// A killed plan or write leaves no entry in the history, but may leave scratch
	// copies and temporary files beside any file of any change.
	files, err := filesOf(a, dir)
	if err != nil {
		return err
	}
	every, err := h.Changes()
	if err != nil {
		return err
	}
	return errors.Join(files.Sweep(), field.SweepTemporary(ctx, files, every))
}

// downOf is an error that names the services that did not come back from a restart, and how
// each is started.
func downOf(a *namedTarget, dir string) error {
	if a.file == nil {
		return nil
	}
	down, err := livesite.Outages(a.hosts, a.file, dir)
	errs := []error{err}
	for _, o := range down {
		errs = append(errs, o)
	}
	return errors.Join(errs...)
}

// A recovered lists the changes that recover undid or applied again.
type recovered struct {
	Undone []*iikanji.Change `json:"reverted"`
	Back   []*iikanji.Change `json:"put_back"`
	Kept   []*iikanji.Change `json:"kept,omitempty"`
	Logs   []string          `json:"logs_turned_off,omitempty"`
	Damage *damageReport     `json:"damage,omitempty"`

	completing []iikanji.ChangeID // to be completed, not undone
}

// recover brings the site up, undoes half-done changes and puts back changes that
// were reverted for a comparison. If a half-done change keeps a server from starting, or the app from
// building, its files are put back first: that needs no server.
func (c *recoverCmd) recover(ctx context.Context, e *env, a *namedTarget, dir string, h *history.History, half []*iikanji.Change, done *recovered) error {
	with := withLiveTarget
	if slices.ContainsFunc(half, endsUnits) {
		with = withWhatRuns
	}
	up := func() error {
		return with(ctx, e, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
			if err := done.restoreLogs(ctx, w); err != nil {
				return err
			}
			if err := done.complete(ctx, w, h); err != nil {
				return err
			}
			if err := done.undo(ctx, w, h); err != nil {
				return err
			}
			if err := field.SweepTemporary(ctx, w.Site(), half); err != nil {
				return err
			}
			if err := done.endProving(ctx, w, h, dir); err != nil {
				return err
			}
			return done.putBack(ctx, w, h)
		})
	}
	first := up()
	var busy *stack.BusyError
	if first == nil || ctx.Err() != nil || errors.As(first, &busy) {
		return first
	}
	if left, err := interruptedChanges(h); err != nil || len(left) == 0 {
		return errors.Join(first, err)
	}
	files, err := filesOf(a, dir)
	if err != nil {
		return errors.Join(first, err)
	}
	if err := field.PutFilesBack(ctx, files, done.filesToPut(half)); err != nil {
		return errors.Join(first, err)
	}
	fmt.Fprintln(e.Stderr, "the stack did not come up: the files of the half-done changes were put into one state; trying again")
	return up()
}

// endsUnits reports whether a change starts or ends units: one that is half done may have
// ended a service of the site, which its undo starts.
func endsUnits(c *iikanji.Change) bool {
	return slices.ContainsFunc(c.Do, func(op iikanji.Op) bool { return op.Verb == iikanji.Unit })
}

// filesToPut returns the interrupted changes with the files that the stack needs
// to come up: as before each change, or as after it where it is to be completed.
func (r *recovered) filesToPut(half []*iikanji.Change) []*iikanji.Change {
	out := slices.Clone(half)
	for i, c := range out {
		if slices.Contains(r.completing, c.ID) {
			forward := *c
			forward.Do, forward.Undo = c.Undo, c.Do
			out[i] = &forward
		}
	}
	return out
}

// complete performs what is missing of the changes to keep.
func (r *recovered) complete(ctx context.Context, w *liveTarget, h *history.History) error {
	for len(r.completing) > 0 {
		id := r.completing[0]
		if err := w.executor(h).Complete(ctx, id, "its events were damaged or missing; kept by recover"); err != nil {
			return err
		}
		r.completing = r.completing[1:]
		kept, err := loaded(h, []iikanji.ChangeID{id})
		if r.Kept = append(r.Kept, kept...); err != nil {
			return err
		}
	}
	return nil
}

// undo undoes the half-done changes.
func (r *recovered) undo(ctx context.Context, w *liveTarget, h *history.History) error {
	ids, err := w.executor(h).Recover(ctx)
	if err == nil { // logs that were turned on for an observation
		var logs []iikanji.ChangeID
		logs, err = livesite.RevertSensors(ctx, h, w.executor(h))
		ids = append(ids, logs...)
	}
	if err == nil {
		var moved []iikanji.ChangeID
		moved, err = tune.UndoCutOff(ctx, h, w.executor(h))
		ids = append(ids, moved...)
	}
	undone, e := loaded(h, ids)
	r.Undone = append(r.Undone, undone...)
	return errors.Join(err, e)
}

// logsLeft counts the logs of databases that a killed observation left turned on.
// Those of an arena ended with its database.
func logsLeft(a *namedTarget, dir string) (n int, err error) {
	files, err := filesOf(a, dir)
	if err != nil {
		return 0, err
	}
	for _, s := range files.Target.Services {
		h, err := files.On(s.Host)
		if err != nil {
			return n, err
		}
		left, err := observe.LogsLeft(h, s.LogPath("slow"))
		if err != nil {
			return n, err
		}
		n += len(left)
	}
	return n, nil
}

// restoreLogs turns off the logs that a killed observation left turned on.
func (r *recovered) restoreLogs(ctx context.Context, w *liveTarget) error {
	for _, s := range w.Target().Services {
		db := w.Site().Services[s.Name].DB()
		if db == nil {
			continue
		}
		h, err := w.Site().On(s.Host)
		if err != nil {
			return err
		}
		logs, err := observe.RestoreLogs(ctx, h, db, s.LogPath("slow"))
		r.Logs = append(r.Logs, logs...)
		if err != nil {
			return err
		}
	}
	return nil
}

// putBack applies again the changes that a comparison had reverted. It prints a note
// for each change that it could not put back; this is not an error.
func (r *recovered) putBack(ctx context.Context, w *liveTarget, h *history.History) error {
	ids, notes, err := tune.PutBack(ctx, h, w.executor(h))
	for _, line := range notes {
		w.progress.Say("%s", report.Clean(line))
	}
	back, e := loaded(h, ids)
	r.Back = append(r.Back, back...)
	return errors.Join(err, e)
}

// loaded reads changes from the history, in their present stage.
func loaded(h *history.History, ids []iikanji.ChangeID) (changes []*iikanji.Change, err error) {
	for _, id := range ids {
		x, e := h.LoadChange(id)
		if err = errors.Join(err, e); e == nil {
			changes = append(changes, x)
		}
	}
	return changes, err
}

// print shows what was done. failed is the error that ended the command, if any.
func (c *recoverCmd) print(e *env, done recovered, failed error) error {
	if c.JSON {
		done.Undone = append([]*iikanji.Change{}, done.Undone...) // empty lists, not null
		done.Back = append([]*iikanji.Change{}, done.Back...)
		return writeJSON(e.Stdout, done)
	}
	out := &output{w: e.Stdout}
	if done.Damage != nil {
		done.Damage.write(out)
	}
	for _, x := range done.Undone {
		out.line("change %d was half done and is undone: %s", x.ID, report.Clean(x.Says))
	}
	for _, x := range done.Kept {
		out.line("change %d was half done and is completed and kept: %s", x.ID, report.Clean(x.Says))
	}
	for _, x := range done.Back {
		out.line("change %d was reverted for a comparison and is applied again: %s", x.ID, report.Clean(x.Says))
	}
	for _, log := range done.Logs {
		out.line("a log of every statement was left on and is off: %s", report.Clean(log))
	}
	if len(done.Undone)+len(done.Back)+len(done.Kept)+len(done.Logs) == 0 && done.Damage == nil && failed == nil {
		out.line("nothing was half done")
	}
	return out.err
}
