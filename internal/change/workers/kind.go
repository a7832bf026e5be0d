package workers

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/machine/appserver"
	"github.com/iikanji/iikanji/internal/machine/host"
)

func init() { change.Register(Kind{}) }

// Kind plans processes and threads. The package comment has its arguments.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "workers" }

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	svc, ok := s.Services[r.Target]
	if !ok {
		return nil, fmt.Errorf("no service %q", r.Target)
	}
	_, w, err := match(r)
	if err != nil {
		return nil, err
	}
	t := &task{site: s, svc: svc, name: r.Target, want: *w}
	if err := t.read(); err != nil {
		return nil, err
	}
	if t.want.Workers == 0 && t.want.Threads == 0 {
		return nil, change.ErrNothing
	}
	if err := t.affordable(ctx); err != nil {
		return nil, err
	}
	weakens, err := t.weakened()
	if err != nil {
		return nil, err
	}
	edits, err := t.edits()
	if err != nil {
		return nil, err
	}
	if len(edits) == 0 {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: t.want.says(), Weakens: weakens, Risk: iikanji.RiskRestart}
	change.FromEdits(c, iikanji.Restart, change.OnHost(svc.Host, edits...)...)
	return c, nil
}

// A task is one plan.
type task struct {
	site  *change.Site
	svc   change.Service
	name  string
	want  wanted // without what is so already
	h     host.Host
	setup *appserver.Setup
}

// read reads how the service runs and drops from want what it has already.
func (t *task) read() (err error) {
	if t.h, err = t.site.On(t.svc.Host); err != nil {
		return err
	}
	if t.setup, err = running(t.h, t.svc); err != nil {
		return err
	}
	s := t.setup
	if s.Workers.Now == t.want.Workers && s.Workers.Now > 0 {
		t.want.Workers = 0
	}
	if s.Threads.Now == t.want.Threads {
		t.want.Threads = 0
	}
	for _, one := range []struct {
		wanted  int
		setting appserver.Setting
		what    string
	}{{t.want.Workers, s.Workers, "processes"}, {t.want.Threads, s.Threads, "threads"}} {
		if one.wanted > 0 && one.setting.Place == appserver.Unavailable {
			return &NoPlaceError{s.Server, one.what, "", fmt.Errorf("%s has no such setting: %w", s.Server, change.ErrNoDiff)}
		}
	}
	return nil
}

// running reads how the processes of a service run.
func running(h host.Host, svc change.Service) (*appserver.Setup, error) {
	pids, _ := svc.Processes()
	if len(pids) == 0 {
		return nil, errNoProcess
	}
	return appserver.Read(h, pids[0], svc.Config, svc.Source)
}

// source is the folder of the app's source: the service's, or the one that its process
// works in.
func (t *task) source() string {
	if t.svc.Source != "" {
		return t.svc.Source
	}
	if dir := filepath.Clean(t.setup.Dir); dir != "/" && dir != "." {
		return dir
	}
	return ""
}

// weakened are the promises that the change weakens. Its error is a StateError for
// state that further processes or threads would break.
func (t *task) weakened() ([]iikanji.Promise, error) {
	p := promise.Processes{Before: t.setup.Serves, After: t.setup.Serves, ThreadsBefore: max(1, t.setup.Threads.Now), ThreadsAfter: max(1, t.setup.Threads.Now)}
	if t.want.Workers > 0 {
		p.After = t.want.Workers
	}
	if t.want.Threads > 0 {
		p.ThreadsAfter = t.want.Threads
	}
	dir := t.source()
	states, err := appserver.States(t.h, dir)
	if dir == "" || err != nil {
		p.Unknown = true // what cannot be read is not proven to be without state
	}
	for _, s := range states {
		switch {
		case s.Kind == appserver.Sessions && p.Before == 1 && p.After > 1:
			return nil, &StateError{s, "a second process would not know them"}
		case s.Kind == appserver.Connection && p.ThreadsBefore == 1 && p.ThreadsAfter > 1:
			return nil, &StateError{s, "threads would send statements on it at the same time"}
		case s.Kind == appserver.Values:
			p.Values = true
		}
	}
	return p.Weakens(), nil
}
