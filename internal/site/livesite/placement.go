package livesite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// placementName is the file of the work folder that says where services run in place of
// iikanji.toml; see change.Placement.
const placementName = "placement.json"

// overlaid is a file with the placement of a work folder laid over it.
func overlaid(f *target.File, dir string) (*target.File, error) {
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
		if !ok || to.Host == s.Host {
			continue
		}
		s.Host = to.Host
		if to.Address != "" {
			s.Listen = to.Address
		}
	}
	return &over, nil
}

// wirePlacement gives the site what changes of where services run need.
func (s *Subject) wirePlacement() {
	f := s.options.File
	s.site.Keep = f.Policy.Keep
	s.site.Placement = filepath.Join(s.options.Dir, placementName)
	s.site.Roots = append(s.site.Roots, s.options.Dir)
	s.site.AroundUnit = s.aroundUnit
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
		r := s.services[name]
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
