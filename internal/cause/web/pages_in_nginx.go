package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

var pagesInNginx = cause.Declare(cause.PerNginx, findPagesInNginx,
	cause.Cause{Code: "WEB116", Title: "pages kept in nginx", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line: "the same without a Varnish, for a Go app",
		Remedies: []cause.Way{
			cause.Plan("httpcache", "nginx", iikanji.RoleWeb)}})

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

// keptByApp is the remedy in which nginx keeps the pages and the app drops them at each
// write. The list is empty if nginx keeps pages already, or if the target has several apps
// or one that is not in Go.
func keptByApp(v *cause.View, paths string) []iikanji.Remedy {
	apps := v.Input.Target.WithRole(iikanji.RoleApp)
	if v.Self.Engine != iikanji.EngineNginx || len(apps) != 1 || apps[0].Engine != iikanji.EngineGo || v.Input.Target.Bench.Resets {
		return nil
	}
	if http, ok := nginxHTTP(v); ok && slices.ContainsFunc(http.Own("proxy_cache_path"), isPageCache) {
		return nil // WEB117 is about it
	}
	return []iikanji.Remedy{v.OnSelf("httpcache",
		fmt.Sprintf("keep all of them in nginx until a request that may write, %s at most; the app drops them (tested-only)", purgedCache),
		map[string]string{"act": "nginx", "path": paths, "valid": purgedCache.String(), "cookies": "ignore"})}
}

// isPageCache reports whether a proxy_cache_path is the one of the act nginx.
func isPageCache(d *nginx.Directive) bool {
	return slices.ContainsFunc(d.Args(), func(arg string) bool { return strings.HasPrefix(arg, "keys_zone=iikanji_pages:") })
}
