package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/deploy"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// apps are the apps to deploy, once for each machine that they run on. Of several services
// of a machine with one source and one program, the first builds it, and the others are
// restarted with it.
func (c *deployCmd) apps(f *target.File) ([]*target.Service, error) {
	var out []*target.Service
	for i := range f.Services {
		s := &f.Services[i]
		if s.Role != iikanji.RoleApp || c.Service != "" && s.Name != c.Service {
			continue
		}
		if s.App.Source == "" {
			if c.Service != "" {
				return nil, hinted(fmt.Errorf("the source of %s is not known", s.Name), "write source below its [service.app]")
			}
			continue
		}
		if len(s.Instances) > 0 && s.Unit == "" {
			return nil, hinted(fmt.Errorf("%s runs on several machines, and its unit is not known", s.Name), "write unit below its [[service]]")
		}
		out = append(out, s)
	}
	if len(out) == 0 && c.Service != "" {
		return nil, usageError("there is no app %q", c.Service)
	}
	if len(out) == 0 {
		return nil, hinted(errors.New("no app of the site has a source"), "write source below [service.app]")
	}
	var places []*target.Service
	for _, s := range out {
		for _, there := range deployPlaces(f, s) {
			if !isTwinOf(there, places) {
				places = append(places, there)
			}
		}
	}
	return places, nil
}

// deployPlaces are a service on each machine that it runs on: its own one, then those of its
// instances in the file's order.
func deployPlaces(f *target.File, s *target.Service) []*target.Service {
	out := []*target.Service{s}
	for _, name := range s.Instances {
		there := *s
		there.Host, there.Instances = f.HostRef(name), nil
		if there.Host != s.Host {
			out = append(out, &there)
		}
	}
	return out
}

// isTwinOf reports whether a service runs the program and source of one of others, on the
// same machine.
func isTwinOf(s *target.Service, others []*target.Service) bool {
	for _, o := range others {
		if o.App.Source == s.App.Source && o.Program == s.Program && o.Host == s.Host && o.Name != s.Name {
			return true
		}
	}
	return false
}

// placed names a service and, if it is another one, its machine.
func placed(s *target.Service) string { return iikanji.PlacedOn(s.Name, s.Host) }

// placesGranted are the paths on other machines that the deployment of these apps writes: what
// is named on the command line may be written there, as here.
func placesGranted(places []*target.Service) map[string][]string {
	grants := map[string][]string{}
	for _, s := range places {
		if s.Host == "" {
			continue
		}
		grants[s.Host] = append(grants[s.Host], s.App.Source)
		if s.Program != "" {
			grants[s.Host] = append(grants[s.Host], s.Program)
		}
	}
	return grants
}

// allReached refuses a deployment while one of its machines cannot be reached or may not be
// changed: it would end with two versions in service.
func allReached(s *livesite.Subject, places []*target.Service) error {
	for _, there := range places {
		h, err := s.Site().On(there.Host)
		if err == nil {
			_, err = h.Stat(there.App.Source)
		}
		if err != nil {
			return fmt.Errorf("nothing is deployed: the source of %s: %w", placed(there), err)
		}
		if m, ok := s.File().Host(there.Host); ok && !m.MayChange() {
			return fmt.Errorf("nothing is deployed: %s may not be changed (change = %q of its [[host]])", there.Host, m.Change)
		}
	}
	return nil
}

// A stoppedError is a deployment to several machines that ended before the last one.
type stoppedError struct {
	Err  error
	Done []*deploy.Result
	Left []*target.Service // which have their former version
}

func (e *stoppedError) Error() string {
	text := e.Err.Error()
	for _, r := range e.Done {
		text += fmt.Sprintf("\nthe new version serves: %s", iikanji.PlacedOn(r.Service, r.Host))
	}
	for _, s := range e.Left {
		text += fmt.Sprintf("\nnot deployed: %s", placed(s))
	}
	return text
}

func (e *stoppedError) Unwrap() error { return e.Err }

// Hints are those of the error, and how the others return.
func (e *stoppedError) Hints() (hints []string) {
	var inner hinter
	if errors.As(e.Err, &inner) {
		hints = inner.Hints()
	}
	for _, r := range e.Done {
		hint := fmt.Sprintf("iikanji deploy %s --back puts the former version back on all its machines", r.Service)
		if len(hints) == 0 || hints[len(hints)-1] != hint {
			hints = append(hints, hint)
		}
	}
	return hints
}

// oneByOne deploys on one machine after the other, and stops at the first that fails.
func oneByOne(places []*target.Service, one func(*target.Service) (*deploy.Result, error)) (done []*deploy.Result, err error) {
	for i, there := range places {
		res, err := one(there)
		if err != nil && len(places) > 1 {
			err = &stoppedError{fmt.Errorf("%s: %w", placed(there), err), done, places[i+1:]}
		}
		if err != nil {
			return done, err
		}
		done = append(done, res)
	}
	return done, nil
}

// keepFolder is where former versions of an app of a machine are kept, on the machine of the
// command.
func keepFolder(dir string, s *target.Service) string {
	name := s.Name
	if s.Host != "" {
		name += "@" + s.Host
	}
	return filepath.Join(dir, "deploy", name)
}

// restartAll makes a service and its twins of one machine run what is deployed there, one
// after the other.
func restartAll(ctx context.Context, s *livesite.Subject, svc *target.Service, h host.Host, app deploy.App) error {
	form, err := deploy.Detect(h, &app)
	if err != nil {
		return err
	}
	f := s.File()
	for i := range f.Services {
		for _, o := range deployPlaces(f, &f.Services[i]) {
			if o.Host != svc.Host || o.Name != svc.Name && !(o.Role == iikanji.RoleApp && isTwinOf(o, []*target.Service{svc})) {
				continue
			}
			switch {
			case form.Live:
				err = reload(ctx, s, o, h)
			case f.Services[i].Host != o.Host: // an instance
				err = systemctl(ctx, h, "restart", o.Unit)
			default:
				err = s.Restart(ctx, o.Name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// systemctl acts on a unit of a machine.
func systemctl(ctx context.Context, h host.Host, verb, unit string) error {
	res, err := h.Exec(ctx, host.Command{Path: "/bin/sh", Args: []string{"-c", "systemctl " + verb + " " + host.Quote(unit)}, Env: commandEnv(h), Dir: "/"})
	if err == nil && res.Status != 0 {
		err = fmt.Errorf("systemctl %s %s: %s", verb, unit, strings.Join(deploy.LastLines(string(res.Output), 3), "; "))
	}
	return err
}

// reload makes a PHP-FPM start its workers again.
func reload(ctx context.Context, s *livesite.Subject, svc *target.Service, h host.Host) error {
	running := s.Site().Services[svc.Name]
	if running.Reloads && running.Running != nil && running.Host == svc.Host {
		return running.Running.Reload(ctx)
	}
	if svc.Unit != "" {
		return systemctl(ctx, h, "reload", svc.Unit)
	}
	pids := s.GroupsOn(svc.Host)[svc.Name]
	if len(pids) == 0 {
		return &livesite.NotRunningError{Service: svc.Name, By: "its process, which has ended"}
	}
	return h.Signal(pids[0], syscall.SIGUSR2)
}

// asAsked is a service as it is asked on its machine. An instance listens at an address of that
// machine, which its file does not have: that of the file would lead to another instance.
func asAsked(s *livesite.Subject, svc *target.Service, h host.Host) (*target.Service, error) {
	where, port, err := net.SplitHostPort(svc.Listen)
	home := s.Site().Services[svc.Name].Host == svc.Host
	if ip := net.ParseIP(where); err != nil || home || ip == nil || ip.IsUnspecified() || ip.IsLoopback() {
		return svc, nil
	}
	m, err := process.ReadMachine(h)
	if err != nil {
		return nil, err
	}
	for _, l := range m.Listens {
		if l.Path == "" && strconv.Itoa(int(l.Address.Port())) == port {
			out := *svc
			out.Listen = l.Name()
			return &out, nil
		}
	}
	return nil, fmt.Errorf("nothing listens at port %s of %s", port, svc.Host)
}
