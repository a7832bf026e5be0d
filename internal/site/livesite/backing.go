package livesite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A backing is the services that apps hold connections to: databases, caches and
// queues. Whoever restarts one cuts these connections. An app that ends because of that
// has not failed: it is started again.
type backing struct {
	mu   sync.RWMutex // locked while such a service is restarted
	last time.Time    // the end of the last restart
}

// isBacking reports whether apps hold connections to a service.
func isBacking(s *target.Service) bool {
	return s.Role == iikanji.RoleDatabase || s.Role == iikanji.RoleCache || s.Role == iikanji.RoleQueue
}

// whileDown calls do, which restarts a backing service. Background jobs that ran before are
// restarted, too. A job may end at once when it loses its connection, or long after: no
// request to it shows which.
func (s *Subject) whileDown(ctx context.Context, r *running, do func() error) error {
	jobs := s.runningJobs()
	s.backing.mu.Lock()
	err := do()
	s.backing.last = time.Now()
	s.backing.mu.Unlock()
	if err != nil || s.deaths.Expected() { // a rehearsal looks for jobs that need a restart
		return err
	}
	var errs []error
	for _, name := range jobs {
		s.options.Progress(fmt.Sprintf("service %s is restarted with %s: its connections were cut", name, r.Name))
		errs = append(errs, s.Restart(context.WithoutCancel(ctx), name))
	}
	return errors.Join(errs...)
}

// runningJobs are the names of the background jobs that have a process.
func (s *Subject) runningJobs() (names []string) {
	for _, name := range s.names {
		if job := s.running()[name]; isJob(job.Service) && job.runs() {
			names = append(names, name)
		}
	}
	return names
}

// isJob reports whether a service is a program that answers nobody.
func isJob(s *target.Service) bool {
	return s.Role == iikanji.RoleApp && s.Check().NoTest
}

// runs reports whether the service has a process.
func (r *running) runs() bool {
	p := r.process()
	return p != nil && p.Alive(r.host)
}

// cut reports whether a service's process began before the last restart of a backing
// service. It waits for the end of a restart.
func (s *Subject) cut(r *running) bool {
	s.backing.mu.RLock()
	defer s.backing.mu.RUnlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	return !s.backing.last.IsZero() && r.since.Before(s.backing.last)
}

// reviveCut starts a service again that ended after a restart of a backing service.
func (s *Subject) reviveCut(r *running) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), serviceWait)
	defer cancel()
	s.options.Progress(fmt.Sprintf("service %s has ended after a restart of what it is connected to, and is started again", r.Name))
	return s.Restart(ctx, r.Name)
}
