package topology

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// A front is the nginx that leads to an app.
type front struct {
	*nginxedit.Plan
	svc  iikanji.Service
	home []string // addresses of the app on its own host, as the front's host writes them
	to   []string // what the front's proxy_pass directives have that lead there
}

// findFront finds the nginx that leads to the app, with what its directives lead to.
func (t *task) findFront() (*front, error) {
	_, port, err := net.SplitHostPort(t.svc.Address)
	if err != nil {
		return nil, fmt.Errorf("%s does not listen at a port, at which another host could reach it", t.svc.Name)
	}
	for _, web := range t.site.Target.WithRole(iikanji.RoleWeb) {
		if web.Engine != iikanji.EngineNginx {
			continue
		}
		plan, err := nginxedit.Begin(t.ctx, t.site, web.Name, nil)
		if err != nil {
			return nil, err
		}
		f := &front{Plan: plan, svc: web}
		if private := t.site.Target.PrivateOf(t.svc.Host); private != "" {
			f.home = append(f.home, net.JoinHostPort(private, port))
		}
		if web.Host == t.svc.Host {
			f.home = append(f.home, "127.0.0.1:"+port, "localhost:"+port, "[::1]:"+port)
			if t.svc.Socket != "" {
				f.home = append(f.home, "unix:"+t.svc.Socket)
			}
		}
		if err := f.findPasses(); err != nil {
			return nil, err
		}
		if len(f.to) > 0 {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", t.svc.Name, errNoFront)
}

// findPasses lists the addresses and upstreams that lead to the app.
func (f *front) findPasses() error {
	http, err := f.HTTP()
	if err != nil {
		return err
	}
	f.Walk(http.Block, []*nginx.Directive{http}, func(p nginx.Place) {
		pass, ok := nginxedit.PassOf(p.Arg(0))
		if p.Name() != "proxy_pass" || !ok || slices.Contains(f.to, pass.To) {
			return
		}
		if slices.Contains(f.home, pass.To) {
			f.to = append(f.to, pass.To)
			return
		}
		for _, up := range f.Get(http, "upstream") {
			if up.Arg(0) == pass.To && slices.ContainsFunc(f.Get(up.Directive, "server"), func(s nginx.Place) bool { return slices.Contains(f.home, s.Arg(0)) }) {
				f.to = append(f.to, pass.To)
			}
		}
	})
	return nil
}

// keptOpen is how many idle connections each worker keeps to the instances, where the front
// keeps none: a connection to another host costs a round trip.
const keptOpen = "32"

// A member is a server of an upstream.
type member struct {
	address string
	weight  int // 0 leaves the present one
}

// divide has all passes to the app go to its upstream with further servers. own is the weight
// of the app's own host.
func (f *front) divide(balance string, own int, others []member) error {
	seen := map[*nginx.Directive]bool{}
	for _, to := range f.to {
		err := f.EachPass(to, func(p nginx.Place, pass nginxedit.Passed) error {
			up := f.UpstreamFor(p, pass)
			if !seen[up] {
				seen[up] = true
				f.pool(up, balance, own, others)
			}
			if len(f.Get(up, "keepalive")) == 0 {
				nginxedit.SetIn(f.Conf, up, "keepalive", keptOpen) // after a method of balancing
			}
			f.KeepOpen(p.Around)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// methods are the directives that choose a server of an upstream.
var methods = []string{"least_conn", "ip_hash", "hash", "random", "least_time"}

// pool puts the servers into an upstream. max_fails=0: one answer that comes late must not
// send all requests to the other host.
func (f *front) pool(up *nginx.Directive, balance string, own int, others []member) {
	last := -1
	for i, d := range up.Block.Items {
		if d.Name() == "server" {
			last = i
			if slices.Contains(f.home, d.Arg(0)) {
				d.SetArgs(serverArgs(d.Args(), own)...)
			}
		}
	}
	for _, m := range others {
		i := slices.IndexFunc(up.Block.Items, func(d *nginx.Directive) bool { return d.Name() == "server" && d.Arg(0) == m.address })
		if i >= 0 {
			up.Block.Items[i].SetArgs(serverArgs(up.Block.Items[i].Args(), m.weight)...)
			continue
		}
		last++
		up.Insert(last, nginx.New("server", serverArgs([]string{m.address}, m.weight)...))
	}
	if balance == "" {
		return
	}
	i := slices.IndexFunc(up.Block.Items, func(d *nginx.Directive) bool { return slices.Contains(methods, d.Name()) })
	switch {
	case balance == "round_robin" && i >= 0:
		up.Block.Items = slices.Delete(up.Block.Items, i, i+1)
	case balance == "least_conn" && i >= 0:
		up.Block.Items[i].Words = nginx.New("least_conn").Words
		up.Block.Items[i].Words[0].Before = up.Block.Items[0].Words[0].Before
	case balance == "least_conn":
		up.Insert(0, nginx.New("least_conn"))
	}
}

// serverArgs are those of a server with a weight.
func serverArgs(args []string, weight int) []string {
	var out []string
	for _, a := range args {
		if strings.HasPrefix(a, "max_fails=") || weight > 0 && strings.HasPrefix(a, "weight=") {
			continue
		}
		out = append(out, a)
	}
	if weight > 1 {
		out = append(out, "weight="+strconv.Itoa(weight))
	}
	return append(out, "max_fails=0")
}

// keepHome gives paths locations of their own whose requests stay on the app's own host.
func (f *front) keepHome(paths []string) error {
	http, err := f.HTTP()
	if err != nil {
		return err
	}
	for _, path := range paths {
		spot, err := f.Spot(path, "")
		if err != nil {
			return fmt.Errorf("keeping %s on its host: %w", path, err)
		}
		if !f.leads(spot.Last()) {
			continue // nginx answers it, or another server
		}
		l, err := f.Split(&spot)
		if err != nil {
			return fmt.Errorf("keeping %s on its host: %w", path, err)
		}
		for _, p := range f.Get(l, "proxy_pass") {
			pass, ok := nginxedit.PassOf(p.Arg(0))
			if !ok {
				continue
			}
			name, err := f.homePool(http, pass.To)
			if err != nil {
				return err
			}
			f.Rename(nginx.Place{Directive: p.Directive, In: p.In, Around: spot.Chain}, pass, name)
		}
	}
	return nil
}

// leads reports whether a location passes requests on to the app.
func (f *front) leads(l *nginx.Directive) bool {
	return slices.ContainsFunc(f.Get(l, "proxy_pass"), func(p nginx.Place) bool {
		pass, ok := nginxedit.PassOf(p.Arg(0))
		return ok && slices.Contains(f.to, pass.To)
	})
}

// homePrefix begins the names of upstreams with the app's own host alone.
const homePrefix = "iikanji_home_"

// homePool is the upstream with the app's own host alone, for what a pass leads to.
func (f *front) homePool(http *nginx.Directive, to string) (string, error) {
	name := homePrefix + nginxedit.NameOf(to)
	address := to
	for _, up := range f.Get(http, "upstream") {
		if up.Arg(0) == name {
			return name, nil
		}
		if up.Arg(0) != to {
			continue
		}
		servers := f.Get(up.Directive, "server")
		i := slices.IndexFunc(servers, func(s nginx.Place) bool { return slices.Contains(f.home, s.Arg(0)) })
		if i < 0 {
			return "", fmt.Errorf("upstream %s has no server of the app's own host", to)
		}
		address = servers[i].Arg(0)
	}
	made := nginx.NewBlock("upstream", name).Put(nginx.New("server", address))
	nginxedit.InsertBeforeServers(http, made)
	return name, nil
}

// edited returns the change of the front's files with its reload; nil if nothing changes.
func (f *front) edited() (*iikanji.Change, error) {
	edits, err := f.Finish()
	if err != nil || len(edits) == 0 {
		return nil, err
	}
	c := &iikanji.Change{Target: f.Name}
	change.FromEdits(c, iikanji.Reload, edits...)
	return c, nil
}
