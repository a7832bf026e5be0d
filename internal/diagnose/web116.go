package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// web116 reports the same as WEB115 for a site without a Varnish whose only app is in Go:
// nginx keeps the pages, and the app drops them at each write.
func web116(v *view) []iikanji.Finding {
	apps := v.in.Target.WithRole(iikanji.RoleApp)
	if v.self.Engine != iikanji.EngineNginx || v.hasVarnish() || len(apps) != 1 || apps[0].Engine != iikanji.EngineGo || v.in.Target.Bench.Resets {
		return nil
	}
	if http, ok := v.nginx(); ok && slices.ContainsFunc(http.All("proxy_cache_path"), isPageCache) {
		return nil // WEB117 is about it
	}
	f, paths := v.untilWrite("WEB116")
	if paths == "" || !v.worth(f.Gain) {
		return nil
	}
	f.Remedies = proven([]iikanji.Remedy{v.onSelf("httpcache", fmt.Sprintf("keep all of them in nginx until a request that may write, %s at most; the app drops them (tested-only)", purgedCache),
		map[string]string{"act": "nginx", "path": paths, "valid": purgedCache.String(), "cookies": "ignore"})}, iikanji.SameForAll)
	return []iikanji.Finding{f}
}

// isPageCache reports whether a proxy_cache_path is the one of the act nginx.
func isPageCache(d iikanji.Directive) bool {
	return slices.ContainsFunc(d.Args, func(arg string) bool { return strings.HasPrefix(arg, "keys_zone=iikanji_pages:") })
}
