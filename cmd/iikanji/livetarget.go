package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all" // every kind
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/site"
	"github.com/iikanji/iikanji/internal/stack"
)

// A liveTarget is a target that is up, with the progress output of one command.
type liveTarget struct {
	*site.Subject
	progress *report.Progress
}

// executor applies and reverts changes of the history h.
func (w *liveTarget) executor(h *history.History) *change.Executor {
	return &change.Executor{Hands: w.Site(), Journal: h, Policy: w.Site().Target.Policy}
}

// withLiveTarget brings a target up, calls do with it, and takes it down again.
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
	return hinted(fmt.Errorf("%s uses the stack: %w", who, err), "stop it first: this command starts the stack and stops it again")
}
