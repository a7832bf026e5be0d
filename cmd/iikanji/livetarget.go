package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all" // every kind
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/arenasite"
	"github.com/iikanji/iikanji/internal/site/livesite"
)

// A liveTarget is a target that is up, with the progress output of one command.
type liveTarget struct {
	field.Subject
	progress *report.Progress
}

// executor applies and reverts changes of the history h.
func (w *liveTarget) executor(h *history.History) *change.Executor {
	return &change.Executor{Hands: w.Site(), Journal: h, Policy: w.Site().Target.Policy}
}

// withLiveTarget brings an arena up, calls do with it, and takes it down again. A
// site runs already, and goes on running.
func withLiveTarget(ctx context.Context, e *env, t *namedTarget, o stack.Options, do func(ctx context.Context, w *liveTarget) error) error {
	return withTarget(ctx, e, t, o, false, do)
}

// withWhatRuns is withLiveTarget for an undo: services of a site may be down.
func withWhatRuns(ctx context.Context, e *env, t *namedTarget, o stack.Options, do func(ctx context.Context, w *liveTarget) error) error {
	return withTarget(ctx, e, t, o, true, do)
}

func withTarget(ctx context.Context, e *env, t *namedTarget, o stack.Options, partly bool, do func(ctx context.Context, w *liveTarget) error) error {
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	o.Progress = func(line string) { progress.Say("%s", line) }
	return useTarget(ctx, t, o, partly, func(ctx context.Context, s field.Subject) error {
		defer progress.Done()
		return do(ctx, &liveTarget{Subject: s, progress: progress})
	})
}

// useTarget makes a Subject of a target for the time of do. Of the options, only
// Dir and Progress count for a site. partly: services of a site may be down.
func useTarget(ctx context.Context, t *namedTarget, o stack.Options, partly bool, do func(ctx context.Context, s field.Subject) error) error {
	if t.arena == nil {
		return withMachines(ctx, t, true, o.Progress, func() error {
			return livesite.Use(ctx, livesite.Options{File: t.file, Dir: o.Dir, Progress: o.Progress, Partly: partly, Hosts: t.hosts}, func(ctx context.Context, s *livesite.Subject) error { return do(ctx, s) })
		})
	}
	err := arenasite.Use(ctx, t.arena, o, func(ctx context.Context, s *arenasite.Subject) error { return do(ctx, s) })
	var busy *stack.BusyError
	if !errors.As(err, &busy) {
		return err
	}
	who := "that process"
	if command := stack.OwnerCommand(busy.PID); command != "" {
		who = "iikanji " + command
	}
	return hinted(fmt.Errorf("%s uses the stack: %w", who, err), "stop it first: this command starts the stack and stops it again")
}

// filesOf is a target as far as its folders show it, while no service may run. Folders of
// other machines show nothing unless these are connected.
func filesOf(t *namedTarget, dir string) (*change.Site, error) {
	if t.arena == nil {
		return livesite.Files(t.hosts, t.file, dir), nil
	}
	full, err := t.arena.Complete()
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) { // no command has brought the arena up yet
		real, err = dir, nil
	}
	if err != nil {
		return nil, fmt.Errorf("finding the work folder: %w", err)
	}
	return arenasite.Files(iikanji.Target{}, full, filepath.Join(real, "conf"), filepath.Join(real, "webapp")), nil
}

// sweep ends the processes that a crashed stack of an arena left. A site has
// none: iikanji does not start it.
func (t *namedTarget) sweep(ctx context.Context, dir string) error {
	if t.arena == nil {
		return nil
	}
	full, err := t.arena.Complete()
	if err != nil {
		return err
	}
	var busy *stack.BusyError
	if err := stack.Sweep(ctx, full, dir, func(string) {}); err != nil && !errors.As(err, &busy) {
		return err
	}
	return nil
}
