package livesite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Options are what a site is opened with.
type Options struct {
	File *target.File
	// Dir is the work folder: for files that iikanji writes and that are not part
	// of the site.
	Dir string
	// Progress is called with what goes on, a line at a time; nil for no one.
	Progress func(line string)
	// Ended is called when a service has ended that has no candidate on trial. Without
	// it, the context of Use ends then.
	Ended func(err error)
	// Hosts are the machines of the file; nil where all services are on this one.
	Hosts Hosts
	// Partly opens a site of which services do not run, without these: an undo needs
	// only those that its changes concern.
	Partly bool
}

// A Subject is a site that runs already.
type Subject struct {
	options   Options
	hosts     map[string]host.Host // by name; "" is this machine
	names     []string             // of the services, in the file's order
	at        atomic.Pointer[placement]
	elsewhere []*elsewhere
	site      *change.Site
	dbs       []*sql.DB
	deaths    *field.Deaths
	backing   backing
	builds    *builds
	mirrors   sync.Mutex // locked while a mirror of a source is renewed

	ctx     context.Context // until Close
	cancel  context.CancelFunc
	died    context.CancelCauseFunc // nil without Use
	watches sync.WaitGroup

	mu   sync.Mutex
	logs map[string]string // access logs that sensors write, by service

	history *history.History // of changes of logs; nil for none
}

var _ field.Subject = (*Subject)(nil)

// Open finds every service of a site and wires it.
func Open(ctx context.Context, o Options) (_ *Subject, err error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	file, err := Placed(o.File, o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Subject{options: o, deaths: &field.Deaths{}, logs: map[string]string{}}
	s.at.Store(&placement{file, map[string]*running{}})
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := errors.Join(os.MkdirAll(filepath.Dir(o.Dir), 0o755), os.MkdirAll(o.Dir, 0o700)); err != nil {
		return nil, fmt.Errorf("making the work folder: %w", err)
	}
	s.connect()
	s.findElsewhere()
	machines, unread := Hosts(s.hosts).Machines(file)
	var missing []error
	for i := range file.Services {
		service := &file.Services[i]
		r, err := found(ctx, machines[service.Host], service, unread[service.Host])
		if down := (*NotRunningError)(nil); o.Partly && errors.As(err, &down) {
			if down.Err == nil && service.Method() == target.ByUnit { // systemd can start it
				o.Progress(down.Error())
				s.names = append(s.names, service.Name)
				s.running()[service.Name] = &running{Service: service, host: s.hosts[service.Host]}
				continue
			}
			o.Progress(fmt.Sprintf("%v; changes of it cannot be undone until it runs", down))
			continue
		}
		if err != nil {
			missing = append(missing, err)
			continue
		}
		if r.origin != nil {
			for _, note := range r.origin.Notes {
				o.Progress(fmt.Sprintf("service %s: %s", service.Name, note))
			}
		}
		s.names = append(s.names, service.Name)
		s.running()[service.Name] = r
	}
	if len(missing) > 0 {
		return nil, errors.Join(missing...)
	}
	s.builds = newBuilds(o.Dir)
	return s, s.wire(ctx)
}

// Close closes the connections to the site, which goes on.
func (s *Subject) Close() error {
	s.cancel()
	s.watches.Wait()
	var errs []error
	for _, db := range s.dbs {
		errs = append(errs, db.Close())
	}
	for _, r := range s.running() {
		if r.origin != nil {
			r.origin.Close()
		}
	}
	return errors.Join(errs...)
}

// joinErrors is errors.Join, which keeps a single error as it is.
func joinErrors(err, other error) error {
	if other == nil {
		return err
	}
	return errors.Join(err, other)
}

// withCause adds the death of a service, which is the reason then.
func withCause(ctx context.Context, err error) error {
	var died *DiedError
	if cause := context.Cause(ctx); errors.As(cause, &died) && !errors.Is(err, cause) {
		return errors.Join(cause, err)
	}
	return err
}

// dir is the folder of the file, in which its commands run.
func (s *Subject) dir() string { return filepath.Dir(s.File().Path) }

// File is the description of the site, with the present placement of its services.
func (s *Subject) File() *target.File { return s.at.Load().file }

// running are the services by their names.
func (s *Subject) running() map[string]*running { return s.at.Load().services }

// Target implements field.Subject.
func (s *Subject) Target() iikanji.Target {
	t := s.File().Target()
	t.Bench.Parameters, _ = s.File().Parameters() // a damaged file fails each run, with its line
	groups := s.Groups()
	for i := range t.Services {
		service := &t.Services[i]
		service.PIDs = groups[service.Name]
		if log := s.sensorLog(service.Name); log != "" {
			service.Logs = append([]iikanji.Log{{Kind: "access", Path: log}}, service.Logs...)
		}
	}
	return t
}

// Site implements field.Subject.
func (s *Subject) Site() *change.Site { return s.site }

// URL implements field.Subject.
func (s *Subject) URL() string { return s.File().URL }

// Deaths implements field.Subject.
func (s *Subject) Deaths() *field.Deaths { return s.deaths }

// Groups implements field.Subject.
func (s *Subject) Groups() map[string][]int {
	groups := map[string][]int{}
	for name, r := range s.running() {
		if p := r.process(); p != nil && p.Alive(r.host) {
			groups[name] = []int{p.PID}
		}
	}
	return groups
}

// Refresh implements field.Subject.
func (s *Subject) Refresh(ctx context.Context, service string) error {
	r, ok := s.running()[service]
	if !ok {
		return fmt.Errorf("no service %q", service)
	}
	if err := s.build(ctx, r); err != nil {
		return err
	}
	if err := s.Restart(ctx, service); err != nil {
		return err
	}
	if err := s.restartTwins(ctx, r); err != nil {
		return err
	}
	return s.refreshKept(ctx, r)
}

// Front is the machine of that web server; this one for none.
func (s *Subject) Front() host.Host {
	for _, service := range s.Target().WithRole(iikanji.RoleWeb) {
		if service.LogPath("access") != "" {
			return s.hosts[service.Host]
		}
	}
	return s.hosts[""]
}

// AccessLog is the access log of the web server at the site's URL, "" for none.
func (s *Subject) AccessLog() string {
	for _, service := range s.Target().WithRole(iikanji.RoleWeb) {
		if log := service.LogPath("access"); log != "" {
			return log
		}
	}
	return ""
}

func (s *Subject) sensorLog(service string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs[service]
}

// envFile is the file with variables that changes set for a service; "" where
// iikanji does not start the service itself.
func (s *Subject) envFile(r *running) string {
	if r.origin == nil || r.origin.Way.Err != nil || r.origin.Way.Signal != 0 || r.Role != iikanji.RoleApp {
		return ""
	}
	return filepath.Join(s.envFolder(), r.Name+".env")
}

func (s *Subject) envFolder() string { return filepath.Join(s.options.Dir, "env") }
