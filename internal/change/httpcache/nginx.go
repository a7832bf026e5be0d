package httpcache

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

const (
	// idle is how many idle connections each nginx worker keeps to a cache.
	idle = "32"
	// idleTime is after which time nginx closes an idle connection. Varnish closes
	// them after 5 s (timeout_idle): nginx must be first, because it does not send a
	// POST a second time.
	idleTime = "4s"
)

// upstream is the name of nginx's upstream for the cache, which is made if it is not
// there.
func (t *task) upstream() (string, error) {
	http, err := t.HTTP()
	if err != nil {
		return "", err
	}
	name := nginxedit.UpstreamName(t.cache.Address)
	if slices.ContainsFunc(t.Get(http, "upstream"), func(u nginx.Place) bool { return u.Arg(0) == name }) {
		return name, nil
	}
	nginxedit.InsertBeforeServers(http, nginx.NewBlock("upstream", name).Put(nginx.New("server", t.cache.Address)).
		Put(nginx.New("keepalive", idle)).Put(nginx.New("keepalive_timeout", idleTime)))
	return name, nil
}

// through passes the requests of a proxy_pass on to the cache. What the app receives
// is the same.
func (t *task) through(p nginx.Place, pass nginxedit.Passed, upstream string) {
	around := nginxedit.Levels(p.Around)
	if t.Header(around, "Host") == nil {
		t.EnsureOneOf(around, "proxy_set_header", nginxedit.SameHeader("Host"), "Host", pass.Host())
	}
	t.Rename(p, pass, upstream)
	t.Ensure(around, "proxy_http_version", "1.1")
	if h := t.Header(around, "Connection"); h == nil || strings.EqualFold(h.Arg(1), "close") {
		t.EnsureOneOf(around, "proxy_set_header", nginxedit.SameHeader("Connection"), "Connection", "")
	}
}

// passOf is the only proxy_pass of a location.
func (t *task) passOf(path string, s nginxedit.Spot) (nginx.Place, nginxedit.Passed, error) {
	found := t.Get(s.Last(), "proxy_pass")
	if len(found) != 1 {
		return nginx.Place{}, nginxedit.Passed{}, fmt.Errorf("path %q: its location has %d proxy_pass, want 1", path, len(found))
	}
	p := found[0]
	p.Around = s.Chain
	pass, ok := nginxedit.PassOf(p.Arg(0))
	if !ok || pass.URI != "" {
		return p, pass, fmt.Errorf("path %q: requests are passed on to %q: want the address of an app by HTTP, without a path", path, p.Arg(0))
	}
	return p, pass, nil
}

// servers are the addresses behind a proxy_pass.
func (t *task) servers(path, to string) ([]string, error) {
	http, err := t.HTTP()
	if err != nil {
		return nil, err
	}
	apps := []string{to}
	for _, up := range t.Get(http, "upstream") {
		if up.Arg(0) != to {
			continue
		}
		apps = nil
		for _, s := range t.Get(up.Directive, "server") {
			if len(s.Args()) != 1 {
				return nil, fmt.Errorf("path %q: server %s of upstream %s has parameters, which Varnish does not have", path, s.Arg(0), to)
			}
			apps = append(apps, s.Arg(0))
		}
	}
	for _, app := range apps {
		if !isApp(app) {
			return nil, fmt.Errorf("path %q: %q is not an address for a VCL", path, app)
		}
	}
	if len(apps) == 0 {
		return nil, fmt.Errorf("path %q: upstream %s has no server", path, to)
	}
	return apps, nil
}

// allThrough passes every request of an app on to the cache, in all servers.
func (t *task) allThrough(apps []string, upstream string) error {
	http, err := t.HTTP()
	if err != nil {
		return err
	}
	var tos []string
	t.Walk(http.Block, []*nginx.Directive{http}, func(p nginx.Place) {
		pass, ok := nginxedit.PassOf(p.Arg(0))
		if p.Name() != "proxy_pass" || !ok || slices.Contains(tos, pass.To) {
			return
		}
		if of, err := t.servers("", pass.To); err == nil && slices.Equal(of, apps) {
			tos = append(tos, pass.To)
		}
	})
	for _, to := range tos {
		if err := t.EachPass(to, func(p nginx.Place, pass nginxedit.Passed) error {
			t.through(p, pass, upstream)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// headers are the names of the headers that nginx sends with values that differ from
// client to client, and those by which apps choose an answer.
func (t *task) headers(path string, s nginxedit.Spot, shared bool) ([]string, error) {
	for _, name := range []string{"proxy_set_body", "proxy_method"} {
		if found, _ := t.Effective(s.Chain, name); len(found) > 0 {
			return nil, fmt.Errorf("path %q: %s is in effect there", path, name)
		}
	}
	received, err := t.Received(path, s, shared)
	if err != nil {
		return nil, err
	}
	names := []string{"Accept", "Accept-Language", "Origin"}
	sent, _ := t.Effective(s.Chain, "proxy_set_header")
	for _, d := range sent {
		name := d.Arg(0)
		differs := slices.ContainsFunc(nginxedit.VariablesOf(d.Arg(1)), func(v string) bool { return slices.Contains(received, v) })
		if !differs || strings.EqualFold(name, "Host") {
			continue
		}
		if !isHeader(name) {
			return nil, fmt.Errorf("path %q: header %q cannot be named in a VCL", path, name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
