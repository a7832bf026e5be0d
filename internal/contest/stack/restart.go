package stack

import (
	"context"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// Restart stops one service, starts it again and waits until it answers. A
// config that can be tested is tested first; an invalid one leaves the running
// service unchanged. A service that does not run is started. A service on demand
// that is not enabled is only stopped; one that is not a process stays as it is.
func (s *Stack) Restart(ctx context.Context, service string) error {
	s.act.Lock()
	defer s.act.Unlock()
	svc, err := s.find(service)
	if err != nil {
		return fmt.Errorf("restarting %w", err)
	}
	return s.restart(ctx, svc)
}

func (s *Stack) find(service string) (*arena.Service, error) {
	if svc := s.arena.Service(service); svc != nil {
		return svc, nil
	}
	return nil, fmt.Errorf("%q: there is no such service", service)
}

func (s *Stack) restart(ctx context.Context, svc *arena.Service) error {
	switch {
	case !svc.IsProcess():
		return nil
	case !s.dir.enabled(svc):
		return s.control.Stop(ctx, svc.Name)
	}
	if err := s.testConfig(ctx, svc); err != nil {
		return err
	}
	if svc.OnDemand {
		if err := s.loadLate(ctx, svc); err != nil {
			return err
		}
	}
	// A service that cannot be started again must not be stopped.
	if _, err := s.specOf(svc); err != nil {
		return fmt.Errorf("restarting the %s: %w", svc.Name, err)
	}
	if err := s.control.Stop(ctx, svc.Name); err != nil {
		return err
	}
	p, err := s.start(ctx, svc)
	if p != nil {
		s.watch(p)
	}
	return err
}

// Refresh restarts one service so that it uses the current contents of its
// files: a source that differs from that of the last build is built first.
func (s *Stack) Refresh(ctx context.Context, service string) error {
	s.act.Lock()
	defer s.act.Unlock()
	svc, err := s.find(service)
	if err != nil {
		return fmt.Errorf("restarting %w", err)
	}
	if len(svc.Build) == 0 || !s.dir.enabled(svc) {
		return s.restart(ctx, svc)
	}
	sum, err := s.dir.sourceSum(svc)
	if err != nil {
		return err
	}
	st, err := s.dir.readState(s.arena)
	if err != nil {
		return err
	}
	if sum == st.Built[service] {
		return s.restart(ctx, svc)
	}
	return s.rebuild(ctx, svc)
}

// Rebuild builds a service from its current source, if it has one, and restarts
// it. If the build fails, the error is a *process.BuildError and the running service is
// left unchanged.
func (s *Stack) Rebuild(ctx context.Context, service string) error {
	s.act.Lock()
	defer s.act.Unlock()
	svc, err := s.find(service)
	if err != nil {
		return fmt.Errorf("restarting %w", err)
	}
	if len(svc.Build) == 0 {
		return s.restart(ctx, svc)
	}
	return s.rebuild(ctx, svc)
}

func (s *Stack) rebuild(ctx context.Context, svc *arena.Service) error {
	// Hash before the build: the next build then covers edits made during this one.
	sum, err := s.dir.sourceSum(svc)
	if err != nil {
		return err
	}
	if err := s.build(ctx, svc, sum); err != nil {
		return err
	}
	st, err := s.dir.readState(s.arena)
	if err == nil {
		st.Built[svc.Name] = sum
		err = s.dir.writeState(st)
	}
	if err != nil {
		return err
	}
	return s.restart(ctx, svc)
}

// start starts a service and waits until it answers. It also returns the process
// if the service runs but did not answer.
func (s *Stack) start(ctx context.Context, svc *arena.Service) (*process.Child, error) {
	sp, err := s.specOf(svc)
	if err != nil {
		return nil, fmt.Errorf("starting the %s: %w", svc.Name, err)
	}
	from := s.dir.size(svc.Output)
	if svc.Socket != "" {
		if err := s.dir.claimOutside(s.outside); err != nil {
			return nil, err
		}
	}
	if err := s.setUp(ctx, svc); err != nil {
		return nil, err
	}
	p, err := s.control.Start(s.dropped(sp))
	if err != nil {
		return nil, s.dir.full(err, "")
	}
	s.mu.Lock()
	s.procs[svc.Name], s.from[svc.Name] = p, from
	s.mu.Unlock()
	question := s.readiness(svc, p)
	err = await(ctx, p, svc.Ready.Wait, question)
	if most := process.EngineOf(svc.Engine).StopWait; ctx.Err() != nil && most > 0 {
		_ = await(context.WithoutCancel(ctx), p, most, question) // err is the error to return
	}
	var slow *NotReadyError
	switch {
	case errors.Is(err, process.ErrEnded):
		return nil, s.died(svc.Name, svc.Output, from, p.Status)
	case errors.As(err, &slow):
		slow.Log = s.dir.path(logDir, svc.Output)
	}
	return p, err
}

// specOf describes a service's process.
func (s *Stack) specOf(svc *arena.Service) (sp process.Spec, err error) {
	sp = process.Spec{Name: svc.Name, Dir: s.workingDir(svc), Log: s.dir.path(logDir, svc.Output), CPUs: s.options.StackCPUs, Rank: s.ranks[svc.Name]}
	v := s.view(svc)
	if v.MiB, err = s.dir.mebibytes(svc.Name); err != nil {
		return sp, err
	}
	if svc.Serve != nil {
		sp.Path, sp.Args, err = s.serves(svc)
	} else {
		var args []string
		sp.Path, args, err = s.command(svc, svc.Start, v)
		if err == nil && s.dir.as.drop {
			sp.Path = forAll(searchPath(s.options), sp.Path)
		}
		sp.Args = append([]string{sp.Path}, args...)
	}
	if err != nil {
		return sp, err
	}
	if sp.Env, err = s.env(svc); err != nil {
		return sp, err
	}
	sp.Stop = svc.Stop
	if svc.Socket != "" { // a program that was killed leaves it, and could not listen there again
		sp.Sweep = []string{s.places.Service(svc.Name).Socket}
		if s.outside != "" {
			sp.Sweep = append(sp.Sweep, s.outside) // removed with its last socket
		}
	}
	sp.Limits, err = s.dir.limits(svc.Name)
	return sp, err
}

// workingDir returns the folder that a service runs in.
func (s *Stack) workingDir(svc *arena.Service) string {
	switch {
	case svc.Dir != "":
		return s.dir.path(webappDir, svc.Dir)
	case svc.Data != "":
		return s.dir.path(svc.Data)
	}
	return s.dir.path(runDir)
}

// ranksOf orders the shutdown: services of a higher rank are stopped first.
// Neighbours of the same role share a rank. Jobs are above all services.
func ranksOf(services []arena.Service) map[string]int {
	ranks, rank := map[string]int{}, 0
	for i, svc := range services {
		if i == 0 || svc.Role != services[i-1].Role {
			rank++
		}
		ranks[svc.Name] = rank
	}
	return ranks
}

// died makes the error of an ended process from its last log lines.
func (s *Stack) died(name, log string, from int64, status string) error {
	tail := s.dir.tail(log, from)
	svc := s.arena.Service(name)
	if svc != nil && len(tail) == 0 {
		if own := svc.LogFile("error"); own != "" && own != log {
			tail = s.dir.tail(own, 0)
		}
	}
	if svc != nil && lostPort(tail) {
		if port := s.portLost(svc); port != 0 {
			return portError(name, port)
		}
	}
	e := &DiedError{Service: name, Status: status, Tail: tail, Log: s.dir.path(logDir, log)}
	text := status
	for _, line := range tail {
		text += "\n" + line
	}
	return s.dir.full(e, text)
}

// portLost returns the port of a service that died because a port was taken. With
// several ports it is the one that another process listens on.
func (s *Stack) portLost(svc *arena.Service) int {
	p := s.places.Service(svc.Name)
	for _, name := range svc.Ports {
		if _, _, listens := process.Listener(p.Ports[name]); listens {
			return p.Ports[name]
		}
	}
	return p.Port
}

// watch reports the end of a service that the stack did not stop.
func (s *Stack) watch(p *process.Child) {
	s.watchers.Go(func() {
		<-p.Done
		s.mu.Lock()
		ended, from := s.ended, s.from[p.Name]
		s.mu.Unlock()
		if p.Stopped || ended {
			return
		}
		select {
		case s.dead <- s.died(p.Name, s.arena.Service(p.Name).Output, from, p.Status):
		default: // the channel is full: the caller has not received for a long time
		}
	})
}
