package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/iikanji/iikanji/internal/stack"
)

// mourned are services that died while a candidate was on trial: it failed,
// and the search goes on with them started again.
type mourned struct {
	mu    sync.Mutex
	trial bool
	dead  []*stack.DiedError
}

// spare says whether a candidate is on the site from now on.
func (m *mourned) spare(trial bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trial = trial
}

// note takes a death; false when it is nobody's fault but the site's.
func (m *mourned) note(died error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	var d *stack.DiedError
	if !m.trial || !errors.As(died, &d) {
		return false
	}
	m.dead = append(m.dead, d)
	return true
}

// deaths are those that have not been started again yet.
func (m *mourned) deaths() []*stack.DiedError {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.dead)
}

// revive starts what died, each service once. What undid the candidate may
// have started it already: once more does no harm.
func (m *mourned) revive(ctx context.Context, s *stack.Stack) error {
	done := map[string]bool{}
	for _, d := range m.deaths() {
		if done[d.Service] {
			continue
		}
		done[d.Service] = true
		if err := s.RestartFor(ctx, d.Service); err != nil {
			return fmt.Errorf("starting the %s again, which died while a change was on trial: %w", d.Service, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = nil
	return nil
}
