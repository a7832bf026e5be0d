package topology

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// plan plans that the app runs on one host alone: the front first, then the units of the other
// hosts. Their files stay. If another host than the app's own one keeps it, the app has moved
// there.
func (a *gatherArgs) plan(t *task) (*iikanji.Change, error) {
	if err := t.findApp(a.Service); err != nil {
		return nil, err
	}
	keep := a.keeps(t.svc)
	if keep != t.svc.Host && t.site.Target.PrivateOf(keep) == "" {
		return nil, fmt.Errorf("the address of %s for the other hosts is not known: fill in private of its [[host]]", a.To)
	}
	f, err := t.findFront()
	if err != nil {
		return nil, err
	}
	left, err := t.dropServers(f, keep)
	if err != nil {
		return nil, err
	}
	if len(left) == 0 {
		return nil, change.ErrNothing
	}
	var names []string
	for _, name := range left {
		names = append(names, hostText(name))
	}
	if keep != t.svc.Host {
		f.Weaken(t.weakens()...)
	}
	c, err := t.throughFront(f, fmt.Sprintf("have %s run on %s alone; end it on %s", t.svc.Name, hostText(keep), strings.Join(names, ", ")), func(is change.Placed) change.Placed {
		if is.Instances = nil; keep != t.svc.Host {
			_, port, _ := net.SplitHostPort(t.svc.Address) // which findFront has read
			is.Host, is.Address = keep, net.JoinHostPort(t.site.Target.PrivateOf(keep), port)
		}
		return is
	})
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

// dropServers leaves one host alone in the upstreams that lead to the app, and returns the
// other hosts that were there.
func (t *task) dropServers(f *front, keep string) (left []string, err error) {
	http, err := f.HTTP()
	if err != nil {
		return nil, err
	}
	pools := f.Get(http, "upstream")
	for _, to := range f.to {
		if keep != t.svc.Host && !slices.ContainsFunc(pools, func(up nginx.Place) bool { return up.Arg(0) == to }) {
			return nil, fmt.Errorf("%s leads to %s on %s alone: spread it over both hosts first", f.Name, t.svc.Name, hostText(t.svc.Host))
		}
	}
	for _, up := range pools {
		if !slices.Contains(f.to, up.Arg(0)) {
			continue
		}
		stays := false
		for _, server := range f.Get(up.Directive, "server") {
			name, known := t.svc.Host, true
			if !slices.Contains(f.home, server.Arg(0)) {
				name, known = t.hostAt(server.Arg(0))
			}
			if !known {
				return nil, fmt.Errorf("upstream %s has the server %s, which is on no host of the site", up.Arg(0), server.Arg(0))
			}
			if name == keep {
				server.SetArgs(weighed(server.Args(), 1)...)
				stays = true
				continue
			}
			server.In.Items = slices.DeleteFunc(server.In.Items, func(d *nginx.Directive) bool { return d == server.Directive })
			if !slices.Contains(left, name) {
				left = append(left, name)
			}
		}
		if !stays {
			return nil, fmt.Errorf("upstream %s does not lead to %s on %s: spread it over that host, with all paths, first", up.Arg(0), t.svc.Name, hostText(keep))
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

// inForce: the front's workers have the new configuration, and initialize works on the host that
// keeps the app.
func (a *gatherArgs) inForce(ctx context.Context, s *change.Site, c *iikanji.Change, all bool) error {
	return frontInForce(ctx, s, c, all || a.To == "")
}
