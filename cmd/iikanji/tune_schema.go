package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/observe"
	"github.com/iikanji/iikanji/internal/stack"
)

// whichFile is tune.Tuner.WhichFile: where several schema files make a table
// alike, initialize is run once with the general log on, and the file is the
// one whose CREATE TABLE is executed.
func (f *arenaField) whichFile(ctx context.Context, refused *change.WhichFileError) (iikanji.Remedy, bool, error) {
	slow := ""
	for _, s := range f.w.stack.Target().Services {
		for _, l := range s.Logs {
			if s.Name == stack.Database && l.Kind == "slow" {
				slow = l.Path
			}
		}
	}
	if slow == "" {
		return iikanji.Remedy{}, false, nil
	}
	executed, err := observe.Executed(ctx, f.w.site.Services[stack.Database].DB, slow, func() error { return f.initialize(ctx) })
	if err != nil {
		return iikanji.Remedy{}, false, fmt.Errorf("asking which schema file initialize executes: %w", err)
	}
	chosen, err := refused.Choose(ctx, executed)
	return chosen, err == nil, nil // without a choice the remedy stays refused
}

// initialize has the site made anew, and wants its checks to pass.
func (f *arenaField) initialize(ctx context.Context) error {
	fails, err := f.unloaded(ctx)
	if err == nil && fails != "" {
		err = errors.New(fails)
	}
	return err
}
