package httpcache

import (
	"context"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
)

func init() { change.Register(Kind{}) }

// Kind plans caches of HTTP answers. Remedy.Target is the name of nginx's service,
// and Args["act"] the act. The path of an act is written as for the kind nginxconf.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "httpcache" }

// Help implements change.Kind.
func (Kind) Help() string {
	return "Caches of HTTP answers between nginx and the app, and the services that keep them. The target is nginx's service. Needs a reload, and starts or restarts the cache."
}

// A task is one plan under way: the edits of nginx's configuration, and the service
// that keeps the answers.
type task struct {
	*nginxedit.Plan
	cache     change.Service
	cacheName string
	edits     []change.Edit // of the cache's files
}

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	_, act, err := match(r)
	if err != nil {
		return nil, err
	}
	p, err := nginxedit.Begin(ctx, s, r.Target, r.Proof)
	if err != nil {
		return nil, err
	}
	t := &task{Plan: p}
	if err := act.plan(t); err != nil {
		return nil, err
	}
	front, err := t.Finish()
	if err != nil {
		return nil, err
	}
	if len(front) == 0 && len(t.edits) == 0 {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: t.Says, Weakens: t.Weakens, Risk: iikanji.RiskRestart}
	var parts []*iikanji.Change
	if len(t.edits) > 0 {
		cache := &iikanji.Change{Target: t.cacheName}
		change.FromEdits(cache, iikanji.Restart, change.OnHost(t.cache.Host, t.edits...)...)
		parts = append(parts, cache)
	}
	if len(front) > 0 {
		web := &iikanji.Change{Target: r.Target}
		change.FromEdits(web, iikanji.Reload, front...)
		parts = append(parts, web)
	}
	change.InTurn(c, parts...)
	return c, nil
}

// find chooses the service that keeps the answers: the named one, or the only one of
// an engine.
func (t *task) find(engine iikanji.Engine, named string) error {
	var found []string
	for name, svc := range t.Site.Services {
		listed, _ := t.Site.Target.Service(name)
		if (svc.Engine == engine || listed.Engine == engine) && (named == "" || name == named) {
			found = append(found, name)
			if svc.Address == "" {
				svc.Address = listed.Address
			}
			t.cache, t.cacheName = svc, name
		}
	}
	switch {
	case len(found) == 0 && named != "":
		return fmt.Errorf("service %q: it is not a %s", named, engine)
	case len(found) == 0:
		return fmt.Errorf("the target has no service of the engine %s", engine)
	case len(found) > 1:
		return fmt.Errorf("service: %d services are a %s; want the name of one", len(found), engine)
	case t.cache.Host != t.Svc.Host:
		return fmt.Errorf("service %q is on another host than nginx", t.cacheName)
	case t.cache.Address == "" || !tcpForm.MatchString(t.cache.Address):
		return fmt.Errorf("service %q: the address that it listens on is not known", t.cacheName)
	case t.cache.Restart == nil:
		return fmt.Errorf("service %q cannot be restarted", t.cacheName)
	}
	return nil
}
