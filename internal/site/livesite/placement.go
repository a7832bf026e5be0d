package livesite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// placementName is the file of the work folder that says where services run in place of
// iikanji.toml; see change.Placement.
const placementName = "placement.json"

// A placement is where the services of a subject run at present. It is replaced as a whole:
// goroutines that wait for the end of a process read it.
type placement struct {
	file     *target.File // with placement.json laid over it
	services map[string]*running
}

// Placed is a file with the placement of a work folder laid over it.
func Placed(f *target.File, dir string) (*target.File, error) {
	text, err := os.ReadFile(filepath.Join(dir, placementName))
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading the placement: %w", err)
	}
	p, err := change.ParsePlacement(text)
	if err != nil {
		return nil, err
	}
	over := *f
	over.Services = append([]target.Service(nil), f.Services...)
	for i := range over.Services {
		s := &over.Services[i]
		to, ok := p.Services[s.Name]
		if ok {
			s.Instances = to.Instances
			s.Spare = slices.DeleteFunc(slices.Clone(s.Spare), func(name string) bool { return slices.Contains(to.Instances, f.HostRef(name)) })
		}
		if !ok || to.Host == s.Host {
			continue
		}
		spare := []string{s.Host}
		for _, name := range s.Spare {
			if f.HostRef(name) != to.Host {
				spare = append(spare, name)
			}
		}
		s.Host, s.Spare = to.Host, spare
		if to.Address != "" {
			s.Listen = to.Address
		}
	}
	return &over, nil
}

// home is the host of a service as iikanji.toml has it: the files that the site's initialize
// loads lie there, wherever the service has moved.
func (s *Subject) home(service string) string {
	if one, ok := s.options.File.Service(service); ok {
		return one.Host
	}
	return ""
}

// wirePlacement gives the site what changes of where services run need.
func (s *Subject) wirePlacement() {
	f := s.File()
	s.site.Keep = f.Policy.Keep
	s.site.Placement = filepath.Join(s.options.Dir, placementName)
	s.site.Roots = append(s.site.Roots, s.options.Dir)
	s.site.AroundUnit = s.aroundUnit
	s.site.Placed = s.placed
	if text := f.Bench.Initialize; text != "" {
		s.site.Initialize = func(ctx context.Context) error {
			return s.shell(ctx, host.Local{}, host.Command{Env: append(os.Environ(), "IIKANJI_URL="+f.URL), Dir: f.Bench.Dir}, text)
		}
	}
}

// aroundUnit calls do, which starts or ends the unit of a host. The end of a service of the
// site is expected then, and a service that runs afterwards answers.
func (s *Subject) aroundUnit(ctx context.Context, on, unit string, do func() (active bool, err error)) error {
	for _, name := range s.names {
		r := s.running()[name]
		if r.Unit != unit || r.Host != on {
			continue
		}
		r.act.Lock()
		defer r.act.Unlock()
		r.expect(true)
		active, err := do()
		if err != nil || !active {
			return err
		}
		r.begins()
		if err := s.await(ctx, r); err != nil {
			return err
		}
		r.expect(false)
		s.watch(r)
		return nil
	}
	_, err := do()
	return err
}

// placed takes the services that a change has just led to another host from there: their
// processes, logs and connections. What cannot be reached is told, and is down for this
// command: the site may work without it.
func (s *Subject) placed(ctx context.Context) {
	file, err := Placed(s.options.File, s.options.Dir)
	if err != nil {
		s.options.Progress(err.Error())
		return
	}
	next := &placement{file, maps.Clone(s.running())}
	for i := range file.Services {
		now := &file.Services[i]
		before := next.services[now.Name]
		if before == nil || before.Host == now.Host && before.Listen == now.Listen {
			continue
		}
		before.expect(true) // its end, if it still runs there
		r, err := s.foundOn(ctx, now)
		if err != nil {
			s.options.Progress(fmt.Sprintf("service %s is not found on its host: %v", now.Name, err))
			r = &running{Service: now, host: s.hosts[now.Host]}
		}
		next.services[now.Name] = r
	}
	s.at.Store(next)
	s.elsewhere = nil
	s.findElsewhere()
	s.site.Target = s.Target()
	for _, name := range s.names {
		r := s.running()[name]
		if r.process() == nil || s.site.Services[name].Host == r.Host {
			continue
		}
		svc, err := s.wireOne(ctx, r)
		if err != nil {
			s.options.Progress(fmt.Sprintf("service %s on its host: %v", name, err))
			r.set(nil)
			continue
		}
		s.site.Services[name] = svc
		s.watch(r)
	}
}

// foundOn finds the process of a service on its present host.
func (s *Subject) foundOn(ctx context.Context, service *target.Service) (*running, error) {
	on := s.hosts[service.Host]
	if on == nil {
		return nil, fmt.Errorf("no host %q", service.Host)
	}
	m, err := process.ReadMachine(on)
	return found(ctx, m, service, err)
}
