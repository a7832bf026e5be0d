package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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

// A worksite is a target that is up, with the progress of one command.
type liveTarget struct {
	*site.Subject
	progress *report.Progress
}

// executor performs changes that h knows.
func (w *liveTarget) executor(h *history.History) *change.Executor {
	return &change.Executor{Hands: w.Site(), Journal: h, Policy: w.Site().Target.Policy}
}

// withSite brings a target up, calls do with it, and takes it down again.
func withLiveTarget(ctx context.Context, e *env, a *arena.Arena, o stack.Options, do func(ctx context.Context, w *liveTarget) error) error {
	progress := report.NewProgress(e.Stderr, e.TTY, e.Cols, e.Now)
	defer progress.Done()
	o.Progress = func(line string) { progress.Say("%s", line) }
	err := site.Use(ctx, a, o, func(ctx context.Context, s *site.Subject) error {
		defer progress.Done()
		return do(ctx, &liveTarget{Subject: s, progress: progress})
	})
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

// underWay are the changes whose applying or reverting was interrupted. Until
// they are recovered, the state of the site is not known.
func halfDone(h *history.History) ([]*iikanji.Change, error) {
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
func refuseHalfDone(h *history.History, a *arena.Arena, f placeFlags) error {
	half, err := halfDone(h)
	if err != nil || len(half) == 0 {
		return err
	}
	var names []string
	for _, c := range half {
		names = append(names, fmt.Sprintf("change %d (%s) is half done: it was %s", c.ID, report.Clean(c.Says), c.Stage))
	}
	return hinted(errors.New(strings.Join(names, "; ")), fmt.Sprintf("iikanji recover %s%s brings the site to a known state first", a.Name, f.flags()))
}
