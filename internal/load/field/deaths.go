package field

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// A Death is a service that ended unexpectedly.
type Death struct {
	Service string
	Err     error // how it ended
}

// Deaths collects services that die while a candidate is on trial. The candidate has
// then failed, and the search continues after their restart. A death at another time
// is a failure of the site and ends the search.
//
// Its methods may be called from several goroutines at once.
type Deaths struct {
	mu       sync.Mutex
	trial    bool
	expected bool
	dead     []Death
}

// Note records a death. It returns false for a death that ends the search.
func (d *Deaths) Note(service string, err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.expected:
		return true
	case !d.trial:
		return false
	}
	d.dead = append(d.dead, Death{service, err})
	return true
}

// setTrial makes deaths count against the candidate, or against the site.
func (d *Deaths) setTrial(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trial = on
}

// expect makes deaths not count: the services are killed on purpose.
func (d *Deaths) expect(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expected = on
}

// Expected reports whether the services are killed on purpose.
func (d *Deaths) Expected() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.expected
}

// Waiting returns the deaths whose services were not restarted yet.
func (d *Deaths) Waiting() []Death {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.dead)
}

func (d *Deaths) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = nil
}

// revive starts the services that died, each once. The undo of the candidate may
// already have started a service; a second start is harmless.
func (f *Field) revive(ctx context.Context) error {
	done := map[string]bool{}
	for _, d := range f.Subject.Deaths().Waiting() {
		if done[d.Service] {
			continue
		}
		done[d.Service] = true
		if err := f.Subject.Refresh(ctx, d.Service); err != nil {
			return fmt.Errorf("restarting %s, which died while a change was on trial: %w", d.Service, err)
		}
	}
	f.Subject.Deaths().clear()
	return nil
}
