package main

import (
	"context"
	"errors"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all" // every kind
	"github.com/iikanji/iikanji/internal/site"
	"github.com/iikanji/iikanji/internal/stack"
)

// A place is an arena that is up, as a site that can be changed.
type place struct {
	arena *arena.Arena
	stack *stack.Stack
	site  *change.Site
}

// at brings an arena up, does something with it and takes it down again. The
// context of do ends also when a service dies.
func at(ctx context.Context, a *arena.Arena, o stack.Options, do func(ctx context.Context, p *place) error) error {
	return stack.Use(ctx, a, o, func(ctx context.Context, s *stack.Stack) (err error) {
		wired, closeSite, err := site.Of(ctx, s, a)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeSite()) }()
		err = do(ctx, &place{arena: a, stack: s, site: wired})
		if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
			err = errors.Join(cause, err) // a service died, say: that is why
		}
		return err
	})
}
