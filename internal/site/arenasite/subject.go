package arenasite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// A Subject is an arena that is up, as a site to tune.
type Subject struct {
	Arena *arena.Arena
	Stack *stack.Stack

	site   *change.Site
	deaths *field.Deaths
}

var _ field.Subject = (*Subject)(nil)

// New returns the subject of a stack that is up and connected by Of. Deaths of its
// services are not collected; see Use.
func New(a *arena.Arena, up *stack.Stack, wired *change.Site) *Subject {
	return &Subject{Arena: a, Stack: up, site: wired, deaths: &field.Deaths{}}
}

// Use brings an arena up, calls do with it, and takes it down again. The context of
// do also ends if a service dies without a candidate on trial: the death is then the
// context's cause, and part of the error.
func Use(ctx context.Context, a *arena.Arena, o stack.Options, do func(ctx context.Context, s *Subject) error) error {
	deaths := &field.Deaths{}
	o.Tolerate = func(died error) bool {
		var d *stack.DiedError
		return errors.As(died, &d) && deaths.Note(d.Service, d)
	}
	return stack.Use(ctx, a, o, func(ctx context.Context, up *stack.Stack) (err error) {
		wired, closeSite, err := Of(ctx, up)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeSite()) }()
		s := New(a, up, wired)
		s.deaths = deaths
		err = do(ctx, s)
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(err, cause) {
			err = errors.Join(cause, err) // a service died: that is the reason
		}
		return err
	})
}

// Target implements field.Subject.
func (s *Subject) Target() iikanji.Target {
	t := s.Stack.Target()
	t.Policy = s.site.Target.Policy
	return t
}

// Site implements field.Subject.
func (s *Subject) Site() *change.Site { return s.site }

// URL implements field.Subject.
func (s *Subject) URL() string { return s.Stack.Places().URL() }

// Groups implements field.Subject.
func (s *Subject) Groups() map[string][]int { return s.Stack.Groups() }

// Restart implements field.Subject.
func (s *Subject) Restart(ctx context.Context, service string) error {
	return s.Stack.Restart(ctx, service)
}

// Refresh implements field.Subject.
func (s *Subject) Refresh(ctx context.Context, service string) error {
	return s.Stack.Refresh(ctx, service)
}

// Deaths implements field.Subject.
func (s *Subject) Deaths() *field.Deaths { return s.deaths }

// Kill implements field.Subject.
func (s *Subject) Kill(ctx context.Context) error {
	var all []process.ID
	for _, pids := range s.Groups() {
		for _, pid := range pids {
			if id, err := process.IDOf(pid); err == nil { // else it has ended
				all = append(append(all, process.Descendants(pid)...), id)
			}
		}
	}
	if err := process.EndAll(ctx, nil, process.Listed(all)); err != nil {
		return fmt.Errorf("killing the services: %w", err)
	}
	for len(s.Groups()) > 0 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// Scenario returns the loader of the arena's own benchmarker for this stack.
func (s *Subject) Scenario(o arena.Options) *field.Scenario {
	if o.Data == "" {
		o.Data = s.Stack.Data()
	}
	o.Here = s.Stack
	out := ScenarioOf(s.Arena, s.URL(), o)
	out.CA = s.Stack.Authority
	return out
}
