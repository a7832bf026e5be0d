package httpcache

import (
	"context"
	"fmt"
	"slices"

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
	return "Caches of HTTP answers between nginx and the app, and the services that keep them. The target is nginx's service. Needs a reload, and starts or restarts the cache, or restarts the app."
}

// A task is one plan under way: the edits of nginx's configuration, and the service
// that keeps the answers.
type task struct {
	*nginxedit.Plan
	cache     change.Service
	cacheName string
	edits     []change.Edit // of the cache's files
	app       string        // the service that drops pages
	appEdits  []change.Edit // of its source
	webFirst  bool          // nginx is changed before the cache is stopped
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
	if len(front) == 0 && len(t.edits) == 0 && len(t.appEdits) == 0 {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: t.Says, Weakens: t.Weakens, Risk: iikanji.RiskRestart}
	change.InTurn(c, t.parts(r.Target, front)...)
	return c, nil
}

// parts are the changes of the app, of the cache and of nginx, in the order in which
// they are made: the app drops pages before any is kept, and a cache that is stopped gets
// no request any more.
func (t *task) parts(web string, front []change.Edit) []*iikanji.Change {
	var parts []*iikanji.Change
	add := func(service string, notice iikanji.Verb, edits []change.Edit) {
		if len(edits) > 0 {
			part := &iikanji.Change{Target: service}
			change.FromEdits(part, notice, edits...)
			parts = append(parts, part)
		}
	}
	add(t.app, iikanji.Restart, t.appEdits)
	add(t.cacheName, iikanji.Restart, change.OnHost(t.cache.Host, t.edits...))
	add(web, iikanji.Reload, front)
	if t.webFirst {
		slices.Reverse(parts)
	}
	return parts
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
	case t.cache.Address == "" || !isTCP(t.cache.Address):
		return fmt.Errorf("service %q: the address that it listens on is not known", t.cacheName)
	case t.cache.Running == nil:
		return fmt.Errorf("service %q cannot be restarted", t.cacheName)
	}
	return nil
}
