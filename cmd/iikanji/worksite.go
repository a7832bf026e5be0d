package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all" // every kind
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/site"
	"github.com/iikanji/iikanji/internal/stack"
)

// placeFlags say where an arena's stack and its history are.
type placeFlags struct {
	Dir     string `help:"Work folder of the stack (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
	History string `help:"Folder of runs and changes (default: history in the work folder)." type:"path" placeholder:"FOLDER"`
}

// folders fills in the defaults.
func (f placeFlags) folders(a *arena.Arena) (dir, hist string, err error) {
	if dir = f.Dir; dir == "" {
		if dir, err = stack.DefaultDir(a.Name); err != nil {
			return "", "", err
		}
	}
	if hist = f.History; hist == "" {
		hist = filepath.Join(dir, "history")
	}
	return dir, hist, nil
}

// flags repeats what was said on the command line, for hints.
func (f placeFlags) flags() string {
	text := ""
	if f.Dir != "" {
		text += " --dir " + f.Dir
	}
	if f.History != "" {
		text += " --history " + f.History
	}
	return text
}

// A worksite is an arena that is up, with its history, for one command.
type worksite struct {
	arena    *arena.Arena
	stack    *stack.Stack
	site     *change.Site
	progress *report.Progress
	// killing says that services are ended without warning on purpose.
	killing atomic.Bool
	mourned
}

// executor performs changes that h knows.
func (w *worksite) executor(h *history.History) *change.Executor {
	return &change.Executor{Hands: w.site, Journal: h, Policy: w.site.Target.Policy}
}

// withSite brings an arena up, does something with it and takes it down again.
func withSite(ctx context.Context, e *env, a *arena.Arena, o stack.Options, do func(ctx context.Context, w *worksite) error) error {
	w := &worksite{arena: a, progress: report.NewProgress(e.Stderr, e.TTY, e.Cols, e.Now)}
	defer w.progress.Done()
	o.Progress = func(line string) { w.progress.Say("%s", line) }
	o.Spare = func(died error) bool { return w.killing.Load() || w.note(died) }
	err := stack.Use(ctx, a, o, func(ctx context.Context, s *stack.Stack) error { return w.use(ctx, s, do) })
	var busy *stack.BusyError
	if !errors.As(err, &busy) {
		return err
	}
	who := "that process"
	if command := stack.OwnerCommand(busy.PID); command != "" {
		who = "iikanji " + command
	}
	return hinted(fmt.Errorf("%s has the stack: %w", who, err), "this command starts the stack itself, and stops it again")
}

// use wires the stack and does something with it.
func (w *worksite) use(ctx context.Context, s *stack.Stack, do func(ctx context.Context, w *worksite) error) (err error) {
	defer w.progress.Done()
	wired, closeSite, err := site.Of(ctx, s, w.arena)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSite()) }()
	w.stack, w.site = s, wired
	err = do(ctx, w)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err) // a service died: that is why
	}
	return err
}

// underWay are the changes that somebody was applying or reverting when he was
// killed: until they are recovered, the site's state is not known.
func underWay(h *history.History) ([]*iikanji.Change, error) {
	all, err := h.Changes()
	if err != nil {
		return nil, err
	}
	var half []*iikanji.Change
	for _, c := range all {
		if c.Stage == iikanji.Applying || c.Stage == iikanji.Reverting {
			half = append(half, c)
		}
	}
	return half, nil
}

// settled refuses a history with changes that are half done.
func settled(h *history.History, a *arena.Arena, f placeFlags) error {
	half, err := underWay(h)
	if err != nil || len(half) == 0 {
		return err
	}
	var names []string
	for _, c := range half {
		names = append(names, fmt.Sprintf("change %d (%s) is half done: it was %s", c.ID, report.Clean(c.Says), c.Stage))
	}
	return hinted(errors.New(strings.Join(names, "; ")), fmt.Sprintf("iikanji recover %s%s brings the site to a known state first", a.Name, f.flags()))
}
