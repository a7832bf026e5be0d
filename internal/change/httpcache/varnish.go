package httpcache

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
)

// Bounds of the argument valid.
const (
	leastValid = 100 * time.Millisecond
	mostValid  = 100 * time.Second
)

// mostPaths bounds the paths of one remedy: each is a condition that Varnish tests for
// every request.
const mostPaths = 20

// varnish keeps the answers of paths in a Varnish, which is started.
type varnish struct {
	Path    string `arg:"path,required" help:"a URL, a folder with its slash, or a route: /article/:id; several with semicolons between them"`
	Valid   string `arg:"valid,required" help:"how old an answer may be, 100ms to 100s"`
	Cookies string `arg:"cookies" oneof:"personal,ignore" default:"personal" help:"personal: no answer to a request with a cookie is kept; ignore: requests lose their cookies, for a path (not a folder) that is the same for all clients"`
	Writes  string `arg:"writes" oneof:"ignore,purge" default:"ignore" help:"purge: all requests of the app go through Varnish, and each with another method than GET or HEAD drops all pages before its answer is sent, for one path or route"`
	ESI     string `arg:"esi" oneof:"off,on" default:"off" help:"on: Varnish includes the fragments that the app's pages name by esi:include; nginx then closes connections after these pages, because they have no length; weakens behaviour"`
	Server  string `arg:"server" help:"server_name or listen address of a server block"`
	Service string `arg:"service" help:"the service of the engine varnish; the only one by default"`

	valid time.Duration
	paths []string
}

var validForm = regexp.MustCompile(`^[0-9]{1,6}(ms|s)$`)

// Validate is called by change.Decode.
func (a *varnish) Validate() error {
	d, err := time.ParseDuration(a.Valid)
	if err != nil || !validForm.MatchString(a.Valid) || d < leastValid || d > mostValid {
		return fmt.Errorf("valid %q: want 100ms to 100s", a.Valid)
	}
	a.valid = d
	for _, path := range strings.Split(a.Path, ";") {
		path = strings.TrimSpace(path)
		if slices.Contains(a.paths, path) {
			return fmt.Errorf("path %q is named twice", path)
		}
		if err := a.allows(path); err != nil {
			return err
		}
		a.paths = append(a.paths, path)
	}
	if len(a.paths) > mostPaths {
		return fmt.Errorf("%d paths: want %d at most", len(a.paths), mostPaths)
	}
	return nil
}

// allows refuses a path that cannot be kept with the other arguments.
func (a *varnish) allows(path string) error {
	g := a.page(path)
	if err := g.check(); err != nil {
		return err
	}
	folder := g.folder() || path == everything
	switch {
	case folder && a.Cookies == "ignore":
		return fmt.Errorf("path %q: cookies can be ignored for a path or route, not for a folder", path)
	case folder && a.Writes == "purge":
		return fmt.Errorf("path %q: writes can purge a path or route, not a folder: other locations may answer a part of it", path)
	}
	return nil
}

// page is a path as the VCL needs it.
func (a *varnish) page(path string) page {
	return page{path: path, valid: a.valid, shared: a.Cookies == "ignore", esi: a.ESI == "on"}
}

// plan implements planner.
func (a *varnish) plan(t *task) error {
	if err := t.find(iikanji.EngineVarnish, a.Service); err != nil {
		return err
	}
	if t.cache.Config == "" || !t.cache.Checks {
		return fmt.Errorf("service %q has no VCL that can be tested", t.cacheName)
	}
	p, vcl, err := a.program(t)
	if err != nil {
		return err
	}
	for _, path := range a.paths {
		s, err := a.spot(t, path)
		if err != nil {
			return err
		}
		if p, err = a.front(t, path, &s, p); err != nil {
			return err
		}
	}
	t.Weaken(promise.Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: t.Proves(iikanji.SameForAll), Purged: p.purge && a.Writes == "purge"}.Promises()...)
	if a.ESI == "on" {
		t.Weaken(promise.Fragments()...)
	}
	t.Says = fmt.Sprintf("keep the answers of %s for %s in %s", strings.Join(a.paths, " and "), a.Valid, t.cacheName)
	if a.Cookies == "ignore" {
		t.Says += ", the same for all clients, without cookies"
	}
	if p.purge {
		t.Says += ", and drop all pages at each request that may write"
	}
	return a.write(t, p, vcl)
}

// spot is the location of a path. It refuses a path whose answers cannot be kept.
func (a *varnish) spot(t *task, path string) (nginxedit.Spot, error) {
	s, err := t.Spot(path, a.Server)
	if err == nil {
		s, err = t.Passing(path, s)
	}
	if err == nil {
		err = t.Public(path, s)
	}
	if was := t.Value(s.Chain, "proxy_cache"); err == nil && was != "" && was != "off" {
		err = fmt.Errorf("path %q: its answers are in the cache %s already", path, was)
	}
	return s, err
}

// program is what Varnish does now, and its VCL; an empty program if it does not run.
func (a *varnish) program(t *task) (*program, []byte, error) {
	vcl, err := t.Site.ReadOld(t.cache.Host, t.cache.Config)
	if err != nil {
		return nil, nil, err
	}
	on := t.cache.EnableFile == "" || t.Exists(t.cache.EnableFile)
	if !on {
		return &program{}, vcl, nil
	}
	p, err := readProgram(string(vcl))
	if err == nil && p == nil {
		err = fmt.Errorf("service %q runs with a VCL of its own, which is not replaced", t.cacheName)
	}
	return p, vcl, err
}

// front edits nginx's configuration for a path and returns the new program.
func (a *varnish) front(t *task, path string, s *nginxedit.Spot, was *program) (*program, error) {
	upstream := nginxedit.UpstreamName(t.cache.Address)
	g := a.page(path)
	var err error
	if g.headers, err = t.headers(path, *s, g.shared); err != nil {
		return nil, err
	}
	if a.Writes == "ignore" || g.esi {
		if _, err := t.Split(s); err != nil {
			return nil, err
		}
		if err := t.NoRedirect(*s); err != nil {
			return nil, err
		}
	}
	place, pass, err := t.passOf(path, *s)
	if err != nil {
		return nil, err
	}
	p := *was
	p.pages = append([]page{}, was.pages...)
	if pass.To != upstream {
		apps, err := t.servers(path, pass.To)
		if err != nil {
			return nil, err
		}
		if p.apps != nil && fmt.Sprint(p.apps) != fmt.Sprint(apps) {
			return nil, fmt.Errorf("path %q: service %q is in front of %v already, and the path is answered by %v", path, t.cacheName, p.apps, apps)
		}
		p.apps = apps
	}
	if _, err := t.upstream(); err != nil {
		return nil, err
	}
	if p.purge = p.purge || a.Writes == "purge"; p.purge {
		err = t.allThrough(p.apps, upstream)
	} else if pass.To != upstream {
		t.through(place, pass, upstream)
	}
	if g.esi {
		t.Ensure(s.Chain, "keepalive_timeout", "0")
	}
	p.add(g)
	return &p, err
}

// write has varnishd compile the VCL and adds the edits of Varnish's files.
func (a *varnish) write(t *task, p *program, old []byte) error {
	vcl := p.vcl()
	if string(old) != vcl {
		t.edits = append(t.edits, change.Edit{Path: t.cache.Config, Old: old, New: []byte(vcl)})
	}
	if t.cache.EnableFile != "" && !t.Exists(t.cache.EnableFile) {
		size, err := t.start()
		if err != nil {
			return err
		}
		t.edits = append(t.edits, change.Edit{Path: t.cache.EnableFile, New: size})
	}
	if len(t.edits) == 0 {
		return nil
	}
	return t.Site.InScratchFile(t.cache, filepath.Dir(t.cache.Config), ".vcl", []byte(vcl), func(path string) error {
		if err := t.cache.Running.CheckConfig(t.Ctx, path); err != nil {
			return fmt.Errorf("varnishd refuses the VCL: %w", err)
		}
		return nil
	})
}
