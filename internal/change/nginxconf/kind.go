package nginxconf

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans edits of nginx's configuration. Remedy.Target is the name of the
// service and Args["act"] the act; Acts lists them with their arguments.
//
// The path of an act is one path ("/api/trend", "/", "= /a/"), a folder
// ("/assets/", with its slash; "/*" is all paths), or a route with placeholders
// for one segment each ("/api/isu/:id/icon"). server is a server_name, or the
// listen address or port of a server block; by default the only server that
// passes requests on.
//
// A plan is change.ErrNothing if the configuration has the effect already.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "nginxconf" }

// Help implements change.Kind.
func (Kind) Help() string {
	return "Edits of nginx's configuration; comments and order stay. The target is nginx's service. Needs a reload."
}

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	svc, ok := s.Services[r.Target]
	if !ok || svc.Config == "" {
		return nil, fmt.Errorf("no service %q with a configuration", r.Target)
	}
	_, editor, err := match(r)
	if err != nil {
		return nil, err
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return nil, err
	}
	tree, err := load(svc.Config, siteFiles{s, h})
	if err != nil {
		return nil, err
	}
	t := &task{ctx: ctx, site: s, name: r.Target, conf: tree, svc: svc, host: h, proofs: r.Proof}
	if err := editor.edit(t); err != nil {
		return nil, err
	}
	if err := t.alone(); err != nil {
		return nil, err
	}
	edits := t.edits()
	if len(edits) == 0 {
		return nil, change.ErrNothing
	}
	if err := t.test(); err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: t.says, Weakens: t.weakens, Risk: iikanji.RiskReload}
	change.FromEdits(c, iikanji.Reload, change.OnHost(svc.Host, edits...)...)
	return c, nil
}

// edits are the files to write: first those that the new configuration needs,
// then the configuration.
func (t *task) edits() []change.Edit {
	edits := slices.Clone(t.beside)
	for _, f := range t.Changed() {
		edits = append(edits, change.Edit{Path: f.Path, Old: []byte(f.Text), New: []byte(f.Root.String())})
	}
	return edits
}

// test has nginx read the edited configuration before any file is written: as
// one scratch file in the folder of the main file, so that relative paths keep
// their meaning. Folders that nginx makes during the test are removed.
func (t *task) test() error {
	defer t.removeScratch()
	return t.site.InScratchFile(t.svc, filepath.Dir(t.svc.Config), ".conf", []byte(t.Flat()), func(path string) error {
		if err := t.svc.Check(t.ctx, path); err != nil {
			return fmt.Errorf("nginx refuses the edited configuration: %w", err)
		}
		return nil
	})
}
