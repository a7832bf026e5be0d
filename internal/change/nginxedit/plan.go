package nginxedit

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Plan is one plan under way: the configuration's trees, which an editor
// changes, and what the change will be.
type Plan struct {
	Ctx context.Context
	*Conf
	Site *change.Site
	Name string // of the service
	Svc  change.Service
	Host host.Host // of the service

	// one is set if the remedy names a path or a server: no other may change.
	One     bool
	Says    string // one sentence about the change
	Weakens []iikanji.Promise
	proofs  []iikanji.Proof // of the remedy
	Beside  []change.Edit   // of files beside the configuration
	Scratch []string        // folders that nginx makes when it tests the configuration
}

// Begin reads the configuration of a service.
func Begin(ctx context.Context, s *change.Site, service string, proofs []iikanji.Proof) (*Plan, error) {
	svc, ok := s.Services[service]
	if !ok || svc.Config == "" {
		return nil, fmt.Errorf("no service %q with a configuration", service)
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return nil, err
	}
	tree, err := LoadOn(s, svc)
	if err != nil {
		return nil, err
	}
	return &Plan{Ctx: ctx, Site: s, Name: service, Conf: tree, Svc: svc, Host: h, proofs: proofs}, nil
}

// Finish returns the files to write; none if nothing changes. nginx has read the
// edited configuration.
func (t *Plan) Finish() ([]change.Edit, error) {
	if err := t.alone(); err != nil {
		return nil, err
	}
	edits := t.edits()
	if len(edits) == 0 {
		return nil, nil
	}
	if err := t.test(); err != nil {
		return nil, err
	}
	return change.OnHost(t.Svc.Host, edits...), nil
}

// alone refuses an edit for one path or server that would change others: an
// edit of a file that nginx reads in several places.
func (t *Plan) alone() error {
	if !t.One {
		return nil
	}
	reads := t.Reads()
	for _, f := range t.Changed() {
		if reads[f] > 1 {
			return fmt.Errorf("the edit would change %s, which is included in %d places: all of them would change", f.Path, reads[f])
		}
	}
	return nil
}

// Weaken adds promises that the change weakens.
func (t *Plan) Weaken(ps ...iikanji.Promise) { t.Weakens = promise.Join(t.Weakens, ps) }

// Proves reports whether an observed run proved a property for the remedy.
func (t *Plan) Proves(p iikanji.Proof) bool { return slices.Contains(t.proofs, p) }

// Spot finds the spot of a remedy's path in a server; "" is the only server
// that passes requests on.
func (t *Plan) Spot(path, server string) (Spot, error) {
	t.One = true
	http, err := t.HTTP()
	if err != nil {
		return Spot{}, err
	}
	s, err := t.server(server)
	if err != nil {
		return Spot{}, err
	}
	return t.spotOf(http, s, path)
}

// edits are the files to write: first those that the new configuration needs,
// then the configuration.
func (t *Plan) edits() []change.Edit {
	edits := slices.Clone(t.Beside)
	for _, f := range t.Changed() {
		edits = append(edits, change.Edit{Path: f.Path, Old: []byte(f.Text), New: []byte(f.Root.String())})
	}
	return edits
}

// test has nginx read the edited configuration before any file is written: as
// one scratch file in the folder of the main file, so that relative paths keep
// their meaning. Folders that nginx makes during the test are removed.
func (t *Plan) test() error {
	defer t.removeScratch()
	return t.Site.InScratchFile(t.Svc, filepath.Dir(t.Svc.Config), ".conf", []byte(t.Flat()), func(path string) error {
		if err := t.Svc.Running.CheckConfig(t.Ctx, path); err != nil {
			return fmt.Errorf("nginx refuses the edited configuration: %w", err)
		}
		return nil
	})
}
