package topology

import (
	"context"
	"fmt"
	"net"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// plan plans other weights of the instances.
func (a *weightsArgs) plan(t *task) (*iikanji.Change, error) {
	if err := t.findApp(a.Service); err != nil {
		return nil, err
	}
	weights, err := weightsOf(a.Weights)
	if err != nil {
		return nil, err
	}
	f, err := t.findFront()
	if err != nil {
		return nil, err
	}
	set, err := t.setWeights(f, weights)
	if err != nil {
		return nil, err
	}
	for name := range weights {
		if !slices.Contains(set, name) {
			return nil, fmt.Errorf("weights: no upstream of %s has a server on %q", f.Name, hostText(name))
		}
	}
	part, err := f.edited()
	if err != nil {
		return nil, err
	}
	if part == nil {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: t.kind, Target: t.target, Risk: iikanji.RiskReload, Says: fmt.Sprintf("divide the requests of %s as %s", t.svc.Name, a.Weights),
		Do: part.Do, Undo: part.Undo, Ground: part.Ground}
	return c, nil
}

// setWeights sets the weights of the servers, and returns the hosts that have one.
func (t *task) setWeights(f *front, weights map[string]int) (set []string, err error) {
	http, err := f.HTTP()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(t.svc.Address)
	if err != nil {
		return nil, err
	}
	for _, up := range f.Get(http, "upstream") {
		servers := f.Get(up.Directive, "server")
		if !slices.Contains(f.to, up.Arg(0)) || len(servers) < 2 {
			continue
		}
		for name, weight := range weights {
			for _, server := range servers {
				if t.onHost(f, server, name, port) {
					server.SetArgs(weighed(server.Args(), weight)...)
					set = append(set, name)
				}
			}
		}
	}
	return set, nil
}

// onHost reports whether a server of an upstream is the app on a host.
func (t *task) onHost(f *front, server nginx.Place, name, port string) bool {
	if name == t.svc.Host && slices.Contains(f.home, server.Arg(0)) {
		return true
	}
	private := t.site.Target.PrivateOf(name)
	return private != "" && server.Arg(0) == net.JoinHostPort(private, port)
}

// weighed are the arguments of a server with a weight, in their order.
func weighed(args []string, weight int) (out []string) {
	done := false
	for _, a := range args {
		if len(a) > 7 && a[:7] == "weight=" {
			if weight > 1 && !done {
				out = append(out, fmt.Sprintf("weight=%d", weight))
			}
			done = true
			continue
		}
		out = append(out, a)
	}
	if !done && weight > 1 {
		out = append(out, fmt.Sprintf("weight=%d", weight))
	}
	return out
}

// inForce: the front's workers have the new weights.
func (a *weightsArgs) inForce(ctx context.Context, s *change.Site, c *iikanji.Change, _ bool) error {
	return frontInForce(ctx, s, c, true)
}
