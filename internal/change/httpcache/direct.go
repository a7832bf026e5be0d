package httpcache

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// direct passes the requests that go through a Varnish on to the app, and stops it. Its
// VCL stays: it has no effect while Varnish does not run.
type direct struct {
	Service string `arg:"service" help:"the service of the engine varnish; the only one by default"`
}

// plan implements planner.
func (a *direct) plan(t *task) error {
	if err := t.find(iikanji.EngineVarnish, a.Service); err != nil {
		return err
	}
	if t.cache.EnableFile == "" {
		return fmt.Errorf("service %q always runs: it cannot be stopped", t.cacheName)
	}
	if !t.Exists(t.cache.EnableFile) {
		return nil // it does not run
	}
	vcl, err := t.Site.ReadOld(t.cache.Host, t.cache.Config)
	if err != nil {
		return err
	}
	p, err := readProgram(string(vcl))
	if err != nil {
		return err
	}
	if p == nil || len(p.apps) != 1 {
		return fmt.Errorf("service %q has a VCL of its own, or several servers behind it", t.cacheName)
	}
	cache := nginxedit.UpstreamName(t.cache.Address)
	if err := t.EachPass(cache, func(at nginx.Place, pass nginxedit.Passed) error {
		t.Rename(at, pass, p.apps[0])
		return nil
	}); err != nil {
		return err
	}
	for _, g := range p.pages {
		if g.esi {
			t.Weaken(promise.Fragments()...) // an app that sends esi:include unasked sends it to clients
		}
	}
	old, err := t.Site.ReadOld(t.cache.Host, t.cache.EnableFile)
	if err != nil {
		return err
	}
	t.edits = append(t.edits, change.Edit{Path: t.cache.EnableFile, Old: old})
	t.webFirst = true
	t.Says = fmt.Sprintf("pass requests on to the app without %s, and stop it", t.cacheName)
	return nil
}
