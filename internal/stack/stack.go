package stack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
)

// Names of the services, as used in Target, Groups and errors.
const (
	Database = "database"
	App      = "app"
	Nginx    = "nginx"
)

// Ranks order the shutdown: a client is stopped before the server it calls.
const (
	rankDatabase = iota + 1
	rankApp
	rankNginx
	rankJob // build, setup, load
)

// A Stack is an arena that is up. Its methods may be called from several
// goroutines at once.
type Stack struct {
	arena    *arena.Arena
	options  Options
	dir      folder
	programs programs
	lock     *os.File
	control  *control
	places   arena.Places
	outside  string // short folder for the socket, empty if not needed

	say      sync.Mutex // one progress line at a time
	act      sync.Mutex // one restart or reload at a time
	checks   sync.Mutex // one scratch check at a time
	watchers sync.WaitGroup
	dead     chan error

	mu    sync.Mutex
	procs map[string]*process
	from  map[string]int64 // offset in the service's log at which its current process began
	ended bool
}

// Places returns the stack's addresses and files.
func (s *Stack) Places() arena.Places { return s.places }

// Data returns the folder with the benchmarker's copy of the generated data.
func (s *Stack) Data() string { return s.dir.path(dataDir) }

// Source returns the folder with the app's source: the place to edit.
func (s *Stack) Source() string { return s.dir.path(webappDir, s.arena.App.Source) }

// Logs returns the folder with every log.
func (s *Stack) Logs() string { return s.dir.path(logDir) }

// Target describes the stack as a tuning target: services with their current
// processes, logs, configs and sockets.
func (s *Stack) Target() iikanji.Target {
	p, f := s.places, s.dir
	local := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	groups := s.Groups()
	log := func(kind, name string) iikanji.Log { return iikanji.Log{Kind: kind, Path: f.path(logDir, name)} }
	return iikanji.Target{
		Name:  s.arena.Name,
		Hosts: []iikanji.HostRef{{Name: "local"}},
		Services: []iikanji.Service{
			{Name: Database, Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Address: local(p.DBPort), Socket: p.DBSocket, Schema: p.DBName, PIDs: groups[Database],
				Configs: []string{f.path(confDir, myCnf), f.path(confDir, "mariadb.d")},
				Logs:    []iikanji.Log{log("error", databaseLog), log("slow", slowLog)}},
			{Name: App, Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Address: local(p.AppPort), PIDs: groups[App],
				Logs: []iikanji.Log{log("output", appLog)}},
			{Name: Nginx, Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Address: local(p.NginxPort), PIDs: groups[Nginx],
				Configs: []string{f.path(confDir, nginxConf)},
				Logs:    []iikanji.Log{{Kind: "access", Path: p.AccessLog}, {Kind: "error", Path: p.ErrorLog}}},
		},
		Bench: iikanji.BenchRef{Scenario: s.arena.Name, URL: p.URL()},
	}
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
		case <-p.done:
		default:
			groups[name] = []int{p.PID}
		}
	}
	return groups
}

// Died yields a typed error (usually *DiedError) for every service that ended
// although the stack did not stop it. The channel is closed when the stack is down.
func (s *Stack) Died() <-chan error { return s.dead }

// Restart stops one service, starts it again and waits until it answers. For
// nginx the config is tested first; an invalid config leaves the running server
// unchanged. A service that does not run is started.
func (s *Stack) Restart(ctx context.Context, service string) error {
	s.act.Lock()
	defer s.act.Unlock()
	return s.restart(ctx, service)
}

func (s *Stack) restart(ctx context.Context, service string) error {
	switch service {
	case Nginx:
		if err := s.testNginx(ctx); err != nil {
			return err
		}
	case Database, App:
	default:
		return fmt.Errorf("restarting %q: there is no such service", service)
	}
	// A service that cannot be started again must not be stopped.
	if _, err := s.specOf(service); err != nil {
		return fmt.Errorf("restarting the %s: %w", service, err)
	}
	if err := s.control.stop(ctx, service); err != nil {
		return err
	}
	p, err := s.start(ctx, service)
	if p != nil {
		s.watch(p)
	}
	return err
}

// RestartFor restarts one service so that it uses the current contents of its
// files. For the app, it builds first if the source differs from that of the last build.
func (s *Stack) RestartFor(ctx context.Context, service string) error {
	s.act.Lock()
	defer s.act.Unlock()
	if service != App {
		return s.restart(ctx, service)
	}
	sum, err := s.dir.sourceSum(s.arena.App.Source)
	if err != nil {
		return err
	}
	st, err := s.dir.readState(s.arena)
	if err != nil {
		return err
	}
	if sum == st.Source {
		return s.restart(ctx, App)
	}
	return s.restartApp(ctx)
}

// RestartApp builds the app from its current source and restarts it. If the build
// fails, the error is a *BuildError and the running app is left unchanged.
func (s *Stack) RestartApp(ctx context.Context) error {
	s.act.Lock()
	defer s.act.Unlock()
	return s.restartApp(ctx)
}

func (s *Stack) restartApp(ctx context.Context) error {
	// Hash before the build: the next build then covers edits made during this one.
	sum, err := s.dir.sourceSum(s.arena.App.Source)
	if err != nil {
		return err
	}
	s.progress("building the app")
	if err := s.dir.build(ctx, s.control, s.arena.App.Source, s.options); err != nil {
		return err
	}
	st, err := s.dir.readState(s.arena)
	if err == nil {
		st.Source = sum
		err = s.dir.writeState(st)
	}
	if err != nil {
		return err
	}
	return s.restart(ctx, App)
}

// Down stops nginx, the app and the database in this order and returns when all
// processes have ended. A service that does not stop in time is killed. When ctx
// ends, all are killed at once. A second call does nothing.
func (s *Stack) Down(ctx context.Context) error {
	s.mu.Lock()
	ended := s.ended
	s.ended = true
	s.mu.Unlock()
	if ended {
		return nil
	}
	err := s.control.down(ctx)
	// If the supervisor was killed, its children may still be ending.
	err = errors.Join(err, s.dir.cleanUp(context.WithoutCancel(ctx), func(string) {}))
	s.watchers.Wait()
	close(s.dead)
	return errors.Join(err, s.lock.Close())
}

// start starts a service and waits until it answers. It also returns the process
// if the service runs but did not answer.
func (s *Stack) start(ctx context.Context, service string) (*process, error) {
	sp, err := s.specOf(service)
	if err != nil {
		return nil, fmt.Errorf("starting the %s: %w", service, err)
	}
	limit, question := s.readiness(service)
	log := logOf[service]
	from := s.dir.size(log)
	if service == Database {
		if err := s.dir.claimOutside(s.outside); err != nil {
			return nil, err
		}
	}
	p, err := s.control.start(s.dropped(sp))
	if err != nil {
		return nil, s.dir.full(err, "")
	}
	s.mu.Lock()
	s.procs[service], s.from[service] = p, from
	s.mu.Unlock()
	err = await(ctx, p, limit, question(p))
	var slow *NotReadyError
	switch {
	case errors.Is(err, errDied):
		return nil, s.died(service, log, from, p.status)
	case errors.As(err, &slow):
		slow.Log = s.dir.path(logDir, log)
	}
	return p, err
}

var logOf = map[string]string{Database: databaseLog, App: appLog, Nginx: nginxLog}

// specOf describes a service's process, with its limits.
func (s *Stack) specOf(service string) (sp spec, err error) {
	switch service {
	case Database:
		sp = s.databaseSpec()
	case App:
		sp, err = s.appSpec()
	case Nginx:
		sp = s.nginxSpec()
	default:
		panic("BUG: no service " + service)
	}
	if err == nil {
		sp.Limits, err = s.dir.limits(service)
	}
	return sp, err
}

// readiness returns how long a service's start may take, and its readiness poll.
func (s *Stack) readiness(service string) (time.Duration, func(*process) func(context.Context) error) {
	switch service {
	case Database:
		return databaseWait, func(*process) func(context.Context) error { return s.pingDatabase }
	case App:
		return appWait, func(p *process) func(context.Context) error { return s.askHTTP(App, s.places.AppPort, p) }
	}
	return nginxWait, func(p *process) func(context.Context) error { return s.askHTTP(Nginx, s.places.NginxPort, p) }
}

// dropped sets the services' account as the user of a process.
func (s *Stack) dropped(sp spec) spec {
	sp.Drop, sp.UID, sp.GID = s.dir.as.drop, s.dir.as.uid, s.dir.as.gid
	return sp
}

// died makes the error of an ended process from its last log lines.
func (s *Stack) died(name, log string, from int64, status string) error {
	tail := s.dir.tail(log, from)
	if name == Nginx && len(tail) == 0 {
		tail = s.dir.tail(errorLog, 0)
	}
	if port := s.portOf(name); port != 0 && lostPort(tail) {
		return portError(name, port)
	}
	e := &DiedError{Service: name, Status: status, Tail: tail, Log: s.dir.path(logDir, log)}
	text := status
	for _, line := range tail {
		text += "\n" + line
	}
	return s.dir.full(e, text)
}

func (s *Stack) portOf(service string) int {
	return map[string]int{Database: s.places.DBPort, App: s.places.AppPort, Nginx: s.places.NginxPort}[service]
}

// watch reports the end of a service that the stack did not stop.
func (s *Stack) watch(p *process) {
	s.watchers.Go(func() {
		<-p.done
		s.mu.Lock()
		ended, from := s.ended, s.from[p.name]
		s.mu.Unlock()
		if p.asked || ended {
			return
		}
		select {
		case s.dead <- s.died(p.name, logOf[p.name], from, p.status):
		default: // the channel is full: the caller has not received for a long time
		}
	})
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
func (s *Stack) running() map[string]*process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.procs)
}
