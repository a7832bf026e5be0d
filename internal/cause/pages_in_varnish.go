package cause

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
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

var pagesInVarnish = Declare(PerNginx, findPagesInVarnish,
	Cause{Code: "WEB115", Title: "one cache for all pages", Of: iikanji.OfCPU, Relieves: AnyLimit,
		Line: "several pages that everybody gets alike can be kept until the next write",
		Remedies: []Way{
			Plan("httpcache", "varnish", iikanji.RoleWeb),
			Plan("httpcache", "nginx", iikanji.RoleWeb),
			Plan("httpcache", "memcached", iikanji.RoleWeb)}})

// findPagesInVarnish reports several pages that are equal for all users, if requests that may
// write are rare and a Varnish is there or can be started: one cache for all of them
// keeps every page until the next write. Kept one by one, each page costs a trial and
// a restart, and the app stays the limit until the last of them.
func findPagesInVarnish(v *view) []iikanji.Finding {
	if !v.hasVarnish() {
		return nil
	}
	f, paths := v.untilWrite("WEB115")
	for _, valid := range []time.Duration{purgedCache, time.Second} {
		f.Remedies = append(f.Remedies, v.onSelf("httpcache", fmt.Sprintf("keep all of them in one Varnish until a request that may write, %s at most (tested-only)", valid),
			map[string]string{"act": "varnish", "path": paths, "valid": valid.String(), "cookies": "ignore", "writes": "purge"}))
	}
	f.Remedies = proven(append(f.Remedies, v.keptByApp(paths)...), iikanji.SameForAll)
	if paths == "" || !v.worth(f.Gain) {
		return nil
	}
	return []iikanji.Finding{f}
}

// untilWrite is the finding that pages which are equal for all users can be kept until
// the next write, without its remedies, and their paths; "" if that would save too little.
func (v *view) untilWrite(code iikanji.Code) (f iikanji.Finding, path string) {
	f = iikanji.Finding{Code: code, Where: v.self.Name}
	if v.in.Run == nil || v.writesPer() > mostWrites {
		return f, ""
	}
	wall, writes := v.in.Run.Took.Seconds(), v.writeRequests()
	var paths []string
	computed, saved, seconds := 0.0, 0.0, 0.0
	for _, g := range v.sharedPages() {
		path, ok := onePath(g.Key)
		if !ok {
			continue
		}
		paths = append(paths, path)
		fewer := g.savedByPurge(writes, wall)
		computed, saved, seconds = computed+g.computed, saved+fewer, seconds+fewer*g.answer.Took.Seconds()
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "answer", Text: fmt.Sprintf("%s: computed %s times in %s each; the same for %d clients of the run and without cookies",
			g.Key, people(g.computed), brief(g.answer.Took), g.answer.Users)})
	}
	if len(paths) < leastPages || saved < leastCrowded*computed {
		return f, ""
	}
	f.Claim = fmt.Sprintf("%d routes have the same answer for all clients and were computed %s times; kept until the next write they would be computed %s times", len(paths), people(computed), people(computed-saved))
	f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%s requests that may write, %.1f per second", people(writes), writes/wall)})
	f.Gain = between(seconds, 0.3, 1)
	return f, strings.Join(paths, ";")
}

// savedByPurge is how many answers are not computed if each URL's answer is kept
// until the next write. Crowded counts the answers beyond one per second and URL,
// which is a lower bound if there is at most one write per second.
func (g sharedPage) savedByPurge(writes, wall float64) float64 {
	urls := 1.0
	if folds(g.Key) {
		urls = float64(max(1, g.series.URLs))
	}
	saved := g.computed - urls*(writes+1+wall/purgedCache.Seconds())
	if writes <= wall && folds(g.Key) {
		saved = max(saved, float64(g.series.Crowded))
	}
	return min(g.computed, max(0, saved))
}

// hasVarnish reports whether a Varnish runs beside this nginx or can be started.
func (v *view) hasVarnish() bool {
	return v.self.Engine == iikanji.EngineNginx && len(v.varnishes()) > 0
}

// varnishes are the Varnish services of the target, with those that a change can
// start.
func (v *view) varnishes() []iikanji.Service {
	return slices.DeleteFunc(slices.Concat(v.in.Target.OnDemand, v.in.Target.Services), func(s iikanji.Service) bool { return s.Engine != iikanji.EngineVarnish })
}

// behindVarnish reports whether nginx passes a path on to a Varnish already.
func (v *view) behindVarnish(path string) bool {
	http, ok := v.nginx()
	if !ok {
		return false
	}
	for _, s := range v.serving(http) {
		a, ok := v.passed(s, "GET "+path)
		if !ok || !slices.ContainsFunc(v.varnishes(), func(c iikanji.Service) bool { return c.Address != "" && passesTo(http, a.By, c.Address) }) {
			return false
		}
	}
	return len(v.serving(http)) > 0
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
