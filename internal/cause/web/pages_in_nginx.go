package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// mostStored is the largest page in bytes that memcached keeps: an item has 1 MiB at most,
// with its key.
const mostStored = 1<<20 - 4<<10

var pagesInNginx = cause.Declare(cause.PerNginx, findPagesInNginx,
	cause.Cause{Code: "WEB116", Title: "pages kept in nginx", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line: "the same without a Varnish, for a Go app",
		Remedies: []cause.Way{
			cause.Plan("httpcache", "nginx", iikanji.RoleWeb),
			cause.Plan("httpcache", "memcached", iikanji.RoleWeb)}})

// findPagesInNginx reports the same as WEB115 for a site without a Varnish whose only app is in Go:
// nginx keeps the pages, and the app drops them at each write.
func findPagesInNginx(v *cause.View) []iikanji.Finding {
	if hasVarnish(v) {
		return nil // WEB115 has the remedies
	}
	f, paths := untilWrite(v, "WEB116")
	if f.Remedies = cause.Proven(keptByApp(v, paths), iikanji.SameForAll); len(f.Remedies) == 0 || paths == "" || !v.Worth(f.Gain) {
		return nil
	}
	return []iikanji.Finding{f}
}

// keptByApp are the remedies in which the app drops the pages at each write: nginx keeps
// them in files or, if a memcached can be started for them, reads them from there. The
// list is empty if nginx keeps pages already, or if the target has several apps or one
// that is not in Go.
func keptByApp(v *cause.View, paths string) []iikanji.Remedy {
	apps := v.Input.Target.WithRole(iikanji.RoleApp)
	if v.Self.Engine != iikanji.EngineNginx || len(apps) != 1 || apps[0].Engine != iikanji.EngineGo || v.Input.Target.Bench.Resets {
		return nil
	}
	if http, ok := nginxHTTP(v); ok && slices.ContainsFunc(http.Own("proxy_cache_path"), isPageCache) {
		return nil // WEB117 is about it
	}
	keep := func(act, says string) iikanji.Remedy {
		return v.OnSelf("httpcache", fmt.Sprintf(says, purgedCache), map[string]string{"act": act, "path": paths, "valid": purgedCache.String(), "cookies": "ignore"})
	}
	out := []iikanji.Remedy{keep("nginx", "keep all of them in nginx until a request that may write, %s at most; the app drops them (tested-only)")}
	if spareMemcached(v) && storable(v) {
		out = append(out, keep("memcached", "keep all of them in a memcached until a request that may write, %s at most, from which nginx sends them on open connections; the app stores and drops them (tested-only)"))
	}
	return out
}

// spareMemcached reports whether the only memcached is one that a change can start: in
// one that runs, pages would push out the data of the app.
func spareMemcached(v *cause.View) bool {
	is := func(s iikanji.Service) bool { return s.Engine == iikanji.EngineMemcached }
	return !slices.ContainsFunc(v.Input.Target.Services, is) && len(slices.DeleteFunc(slices.Clone(v.Input.Target.OnDemand), func(s iikanji.Service) bool { return !is(s) })) == 1
}

// storable reports whether memcached can keep all pages that are equal for all users: it
// keeps no headers, and nginx sends the pages as HTML.
func storable(v *cause.View) bool {
	for _, g := range sharedPages(v) {
		if _, ok := onePath(g.Key); !ok {
			continue
		}
		a := g.answer
		if a.Type != "text/html" || a.Encoding != "" || a.ETag || a.Expires || a.CacheControl != "" || a.Vary != "" || a.Bytes > mostStored {
			return false
		}
	}
	return true
}

// isPageCache reports whether a proxy_cache_path is the one of the act nginx.
func isPageCache(d *nginx.Directive) bool {
	return slices.ContainsFunc(d.Args(), func(arg string) bool { return strings.HasPrefix(arg, "keys_zone=iikanji_pages:") })
}
