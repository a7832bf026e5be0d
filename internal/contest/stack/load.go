package stack

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

const loader = "data loader" // process name; a space keeps it apart from services

// loadLate loads the data of a service that a change starts.
func (s *Stack) loadLate(ctx context.Context, svc *arena.Service) error {
	st, err := s.dir.readState(s.arena)
	if err != nil {
		return err
	}
	return s.load(ctx, svc, &st)
}

// load runs a service's load command if its data is new or was loaded from other
// data.
func (s *Stack) load(ctx context.Context, svc *arena.Service, st *state) error {
	want := "loaded " + s.arena.GeneratedVersion
	if svc.Load == "" || st.Loaded[svc.Name] == want {
		return nil
	}
	s.progress("loading the initial data")
	delete(st.Loaded, svc.Name) // the data may be partly loaded from here on
	if err := errors.Join(s.dir.writeState(*st), s.dir.emptyLog(loadLog)); err != nil {
		return s.dir.full(err, "")
	}
	env, err := s.env(svc)
	if err != nil {
		return err
	}
	command := s.dir.path(webappDir, svc.Load)
	stop := s.tellSteps(loadLog)
	defer stop()
	p, err := s.control.Run(ctx, s.dropped(process.Spec{Name: loader, Path: command, Args: []string{command}, Dir: path.Dir(command), Log: s.dir.path(logDir, loadLog),
		Env: env, CPUs: s.options.StackCPUs, Rank: process.RankJob}))
	if err != nil {
		return fmt.Errorf("loading the initial data: %w", err)
	}
	if !p.OK {
		return s.died(loader, loadLog, 0, p.Status)
	}
	st.Loaded[svc.Name] = want
	return s.dir.writeState(*st)
}
