package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

const (
	// leastPages is the number of routes from which one cache for all is a finding of
	// its own; for one route WEB107 has the remedy.
	leastPages = 2
	// purgedCache is how long pages are kept that are dropped at each write. It bounds
	// the age of a page that something else changes.
	purgedCache = 10 * time.Second
)

var pagesInVarnish = cause.Declare(cause.PerNginx, findPagesInVarnish,
	cause.Cause{Code: "WEB115", Title: "one cache for all pages", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line: "several pages that everybody gets alike can be kept until the next write",
		Remedies: []cause.Way{
			cause.Plan("httpcache", "varnish", iikanji.RoleWeb),
			cause.Plan("httpcache", "nginx", iikanji.RoleWeb)}})

// findPagesInVarnish reports several pages that are equal for all users, if requests that may
// write are rare and a Varnish is there or can be started: one cache for all of them
// keeps every page until the next write. Kept one by one, each page costs a trial and
// a restart, and the app stays the limit until the last of them.
func findPagesInVarnish(v *cause.View) []iikanji.Finding {
	if !hasVarnish(v) {
		return nil
	}
	f, paths := untilWrite(v, "WEB115")
	for _, valid := range []time.Duration{purgedCache, time.Second} {
		f.Remedies = append(f.Remedies, v.OnSelf("httpcache", fmt.Sprintf("keep all of them in one Varnish until a request that may write, %s at most (tested-only)", valid),
			map[string]string{"act": "varnish", "path": paths, "valid": valid.String(), "cookies": "ignore", "writes": "purge"}))
	}
	f.Remedies = cause.Proven(append(f.Remedies, keptByApp(v, paths)...), iikanji.SameForAll)
	if paths == "" || !v.Worth(f.Gain) {
		return nil
	}
	return []iikanji.Finding{f}
}

// untilWrite is the finding that pages which are equal for all users can be kept until
// the next write, without its remedies, and their paths; "" if that would save too little.
func untilWrite(v *cause.View, code iikanji.Code) (f iikanji.Finding, path string) {
	f = iikanji.Finding{Code: code, Where: v.Self.Name}
	if v.Input.Run == nil || writesPer(v) > mostWrites {
		return f, ""
	}
	wall, writes := v.Input.Run.Took.Seconds(), writeRequests(v)
	var paths []string
	computed, saved, seconds := 0.0, 0.0, 0.0
	for _, g := range sharedPages(v) {
		path, ok := onePath(g.Key)
		if !ok {
			continue
		}
		paths = append(paths, path)
		fewer := g.savedByPurge(writes, wall)
		computed, saved, seconds = computed+g.computed, saved+fewer, seconds+fewer*g.answer.Took.Seconds()
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "answer", Text: fmt.Sprintf("%s: computed %s times in %s each; the same for %d clients of the run and without cookies",
			g.Key, cause.Number(g.computed), cause.Brief(g.answer.Took), g.answer.Users)})
	}
	if len(paths) < leastPages || saved < leastCrowded*computed {
		return f, ""
	}
	f.Claim = fmt.Sprintf("%d routes have the same answer for all clients and were computed %s times; kept until the next write they would be computed %s times", len(paths), cause.Number(computed), cause.Number(computed-saved))
	f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%s requests that may write, %.1f per second", cause.Number(writes), writes/wall)})
	f.Gain = cause.Between(seconds, 0.3, 1)
	return f, strings.Join(paths, ";")
}

// savedByPurge is how many answers are not computed if each URL's answer is kept
// until the next write. Crowded counts the answers beyond one per second and URL,
// which is a lower bound if there is at most one write per second.
func (g sharedPage) savedByPurge(writes, wall float64) float64 {
	urls := 1.0
	if cause.Folds(g.Key) {
		urls = float64(max(1, g.series.URLs))
	}
	saved := g.computed - urls*(writes+1+wall/purgedCache.Seconds())
	if writes <= wall && cause.Folds(g.Key) {
		saved = max(saved, float64(g.series.Crowded))
	}
	return min(g.computed, max(0, saved))
}

// hasVarnish reports whether a Varnish runs beside this nginx or can be started.
func hasVarnish(v *cause.View) bool {
	return v.Self.Engine == iikanji.EngineNginx && len(varnishes(v)) > 0
}

// varnishes are the Varnish services of the target, with those that a change can
// start.
func varnishes(v *cause.View) []iikanji.Service {
	return slices.DeleteFunc(slices.Concat(v.Input.Target.OnDemand, v.Input.Target.Services), func(s iikanji.Service) bool { return s.Engine != iikanji.EngineVarnish })
}

// behindVarnish reports whether nginx passes a path on to a Varnish already.
func behindVarnish(v *cause.View, path string) bool {
	http, ok := nginxHTTP(v)
	if !ok {
		return false
	}
	for _, s := range serving(v, http) {
		a, ok := passed(v, s, "GET "+path)
		if !ok || !slices.ContainsFunc(varnishes(v), func(c iikanji.Service) bool { return c.Address != "" && passesTo(http, a.By, c.Address) }) {
			return false
		}
	}
	return len(serving(v, http)) > 0
}

// passesTo reports whether a proxy_pass names an address, or an upstream that has it
// as its only server.
func passesTo(http nginx.Scope, pass *nginx.Directive, address string) bool {
	to, _, _ := strings.Cut(strings.TrimPrefix(pass.Arg(0), "http://"), "/")
	for _, u := range http.Blocks("upstream") {
		if servers := u.Own("server"); u.Last().Arg(0) == to && len(servers) == 1 {
			return servers[0].Arg(0) == address
		}
	}
	return to == address
}
