package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// plan plans that the app runs on its own host alone: the front first, then the units of the
// other hosts. Their files stay.
func (a *gatherArgs) plan(t *task) (*iikanji.Change, error) {
	if err := t.findApp(a.Service); err != nil {
		return nil, err
	}
	f, err := t.findFront()
	if err != nil {
		return nil, err
	}
	left, err := t.dropServers(f)
	if err != nil {
		return nil, err
	}
	if len(left) == 0 {
		return nil, change.ErrNothing
	}
	c, err := t.throughFront(f, fmt.Sprintf("have %s run on %s alone; end it on %s", t.svc.Name, hostText(t.svc.Host), strings.Join(left, ", ")), nil)
	if err != nil {
		return nil, err
	}
	var starts []iikanji.Op
	for _, name := range left {
		if err := t.site.MayChangeUnit(name, t.svc.Unit); err != nil {
			return nil, err
		}
		on, err := t.site.On(name)
		if err != nil {
			return nil, err
		}
		was, links, err := change.ReadUnit(t.ctx, on, t.svc.Unit)
		if err != nil {
			return nil, err
		}
		if was == (change.UnitState{}) {
			continue
		}
		c.Do = append(c.Do, change.UnitOp(name, t.svc.Unit, was, change.UnitState{}, links))
		starts = append(starts, change.UnitOp(name, t.svc.Unit, change.UnitState{}, was, links))
	}
	undo := c.Undo
	c.Undo = starts
	for i := range c.Undo {
		c.Undo[i].After = "-"
	}
	for _, op := range undo {
		op.After = "" // all before it: no request may reach an instance that has not started
		c.Undo = append(c.Undo, op)
	}
	return c, nil
}

// dropServers leaves the app's own host alone in the upstreams that lead to it, and returns
// the other hosts that were there.
func (t *task) dropServers(f *front) (left []string, err error) {
	http, err := f.HTTP()
	if err != nil {
		return nil, err
	}
	for _, up := range f.Get(http, "upstream") {
		if !slices.Contains(f.to, up.Arg(0)) {
			continue
		}
		for _, server := range f.Get(up.Directive, "server") {
			if slices.Contains(f.home, server.Arg(0)) {
				server.SetArgs(weighed(server.Args(), 1)...)
				continue
			}
			name, known := t.hostAt(server.Arg(0))
			if !known {
				return nil, fmt.Errorf("upstream %s has the server %s, which is on no host of the site", up.Arg(0), server.Arg(0))
			}
			server.In.Items = slices.DeleteFunc(server.In.Items, func(d *nginx.Directive) bool { return d == server.Directive })
			if !slices.Contains(left, name) {
				left = append(left, name)
			}
		}
	}
	return left, nil
}

// hostAt is the host of the site with an address.
func (t *task) hostAt(address string) (name string, known bool) {
	for _, h := range t.site.Target.Hosts {
		if h.Private != "" && strings.HasPrefix(address, h.Private+":") {
			return h.Name, true
		}
	}
	return "", false
}

// inForce: the front's workers have the new configuration.
func (a *gatherArgs) inForce(ctx context.Context, s *change.Site, c *iikanji.Change, _ bool) error {
	return frontInForce(ctx, s, c, true)
}
