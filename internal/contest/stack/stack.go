package stack

import (
	"context"
	"errors"
	"maps"
	"os"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// A Stack is an arena that is up. Its methods may be called from several
// goroutines at once.
type Stack struct {
	arena    *arena.Arena // complete
	options  Options
	dir      folder
	programs programs
	ranks    map[string]int // order of the shutdown, by service
	lock     *os.File
	control  *process.Supervisor
	places   arena.Places
	outside  string // short folder for the sockets, empty if not needed

	say      sync.Mutex // one progress line at a time
	act      sync.Mutex // one restart or reload at a time
	checks   sync.Mutex // one scratch check at a time
	watchers sync.WaitGroup
	dead     chan error

	mu    sync.Mutex
	procs map[string]*process.Child
	from  map[string]int64 // offset in the service's log at which its current process began
	ended bool
}

// Arena returns the arena with the defaults of its services filled in.
func (s *Stack) Arena() *arena.Arena { return s.arena }

// Places returns the stack's addresses and files.
func (s *Stack) Places() arena.Places { return s.places }

// Data returns the folder with the benchmarker's copy of the generated data.
func (s *Stack) Data() string { return s.dir.path(dataDir) }

// Source returns the folder with a service's source: the place to edit. It is ""
// for an installed program.
func (s *Stack) Source(service string) string {
	svc := s.arena.Service(service)
	if svc == nil || svc.Source == "" {
		return ""
	}
	return s.dir.path(webappDir, svc.Source)
}

// Logs returns the folder with every log.
func (s *Stack) Logs() string { return s.dir.path(logDir) }

// Services returns the services that run or should run, in the order of their
// start, and those that are no process.
func (s *Stack) Services() []arena.Service {
	var out []arena.Service
	for _, svc := range s.arena.Services {
		if s.dir.enabled(&svc) {
			out = append(out, svc)
		}
	}
	return out
}

// Target describes the stack as a tuning target: services with their current
// processes, logs, configs and sockets. A service on demand that is not enabled
// is listed apart.
func (s *Stack) Target() iikanji.Target {
	t := iikanji.Target{Name: s.arena.Name, Hosts: []iikanji.HostRef{{Name: "local"}},
		Bench: iikanji.BenchRef{Scenario: s.arena.Name, URL: s.places.URL()}, Policy: s.arena.Policy()}
	groups := s.Groups()
	for _, svc := range s.Services() {
		p := s.places.Service(svc.Name)
		ref := iikanji.Service{Name: svc.Name, Role: svc.Role, Engine: svc.Engine, Address: p.Address, Socket: p.Socket,
			Schema: p.Schema, PIDs: groups[svc.Name]}
		for _, c := range svc.Configs {
			ref.Configs = append(ref.Configs, s.dir.path(confDir, c.File))
		}
		if svc.Engine.MySQLFamily() && svc.DropIns != "" {
			ref.Configs = append(ref.Configs, p.DropIns)
		}
		if svc.Engine == iikanji.EngineSQLite && p.Data != "" {
			ref.Files = []string{p.Data}
		}
		for _, l := range svc.Logs {
			ref.Logs = append(ref.Logs, iikanji.Log{Kind: l.Kind, Path: s.dir.path(logDir, l.File)})
		}
		t.Services = append(t.Services, ref)
	}
	for i := range s.arena.Services {
		if svc := &s.arena.Services[i]; !s.dir.enabled(svc) {
			t.OnDemand = append(t.OnDemand, iikanji.Service{Name: svc.Name, Role: svc.Role, Engine: svc.Engine, Address: s.places.Service(svc.Name).Address})
		}
	}
	return t
}

// Groups returns the current root process of each running service, by the
// service's name. The service's CPU time is that of the root processes and their
// descendants.
func (s *Stack) Groups() map[string][]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	groups := map[string][]int{}
	for name, p := range s.procs {
		select {
		case <-p.Done:
		default:
			groups[name] = []int{p.PID}
		}
	}
	return groups
}

// Died yields a typed error (usually *DiedError) for every service that ended
// although the stack did not stop it. The channel is closed when the stack is down.
func (s *Stack) Died() <-chan error { return s.dead }

// Down stops the services in the reverse order of their start and returns when
// all processes have ended. A service that does not stop in time is killed. When ctx
// ends, all are killed at once. A second call does nothing.
func (s *Stack) Down(ctx context.Context) error {
	s.mu.Lock()
	ended := s.ended
	s.ended = true
	s.mu.Unlock()
	if ended {
		return nil
	}
	err := s.control.Down(ctx)
	// If the supervisor was killed, its children may still be ending.
	err = errors.Join(err, s.dir.cleanUp(context.WithoutCancel(ctx), func(string) {}))
	s.watchers.Wait()
	close(s.dead)
	return errors.Join(err, s.lock.Close())
}

// dropped sets the services' account as the user of a process.
func (s *Stack) dropped(sp process.Spec) process.Spec {
	sp.UID, sp.GID = s.dir.as.uid, s.dir.as.gid
	return sp
}

// progress passes a line to Options.Progress.
func (s *Stack) progress(line string) {
	if s.options.Progress == nil {
		return
	}
	s.say.Lock()
	defer s.say.Unlock()
	s.options.Progress(line)
}

// running returns each service's last started process.
func (s *Stack) running() map[string]*process.Child {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.procs)
}
