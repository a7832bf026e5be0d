package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// Least numbers of consecutive answers to different clients, and of clients,
	// and the least share of these answers with equal sizes. An answer that grows
	// during the run differs sometimes.
	leastPairs   = 5
	leastClients = 3
	leastAlike   = 0.6
	// leastShared is the least share of the answers of one URL that a cache saves,
	// leastCrowded that of a route with many URLs: some of them are seldom requested.
	leastShared, leastCrowded = 0.5, 0.2
	// leastURLs is the least number of URLs of a route that must be proven to be equal
	// for all users, if the run had as many.
	leastURLs = 3
	// leastUsers is the least number of the run's clients that must get the same
	// answer as a client without cookies.
	leastUsers = 2
	// headSize is the largest size of an answer's head in bytes. The generator
	// counts the head, the size of a body does not contain it.
	headSize = 800
	// shortCache is the lifetime of a cached answer in seconds: too short to be
	// noticed by users.
	shortCache = 1.0
	// longWait is the mean number of requests that arrive while a cached answer is
	// renewed from which on their waiting matters: with proxy_cache_lock, nginx
	// lets them check every 500 ms.
	longWait = 0.1
	// cheap304 is the least share of an answer's time that a 304 saves for its
	// ETag to be useful: an app that computes the whole answer to compute the ETag
	// saves nothing.
	cheap304 = 0.5
)

var sharedAnswers = cause.Declare(cause.PerWeb, findSharedAnswers,
	cause.Cause{Code: "WEB107", Title: "same answer for everyone", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line: "a candidate for a short cache, with the observed interval between changes",
		Remedies: []cause.Way{
			cause.Plan("nginxconf", "cache until reset", iikanji.RoleWeb),
			cause.Plan("nginxconf", "cache", iikanji.RoleWeb),
			cause.Plan("httpcache", "varnish", iikanji.RoleWeb),
			cause.Patch}})

// findSharedAnswers reports expensive pages that are equal for all users and could be
// cached briefly. An answer counts as equal for all users if a client without
// cookies and leastUsers clients of the run get it, no header that varied in the
// run changes it, it comes without Set-Cookie, and the clients of the run
// received answers of one size at one time.
func findSharedAnswers(v *cause.View) []iikanji.Finding {
	if v.Input.Run == nil {
		return nil
	}
	wall := v.Input.Run.Took.Seconds()
	var out []iikanji.Finding
	for _, g := range sharedPages(v) {
		r, a, s, computed := g.Row, g.answer, g.series, g.computed
		saved, least := computed-wall/shortCache, leastShared
		if cause.Folds(r.Key) { // each URL has an answer of its own
			saved, least = min(computed, float64(s.Crowded)), leastCrowded
		}
		if saved < least*computed {
			continue
		}
		wait := max(waited(v, r), a.Took)
		f := iikanji.Finding{Code: "WEB107", Where: r.Key,
			Claim: fmt.Sprintf("all clients get the same answer, but each of %s is computed separately, in %s; cached for 1 s it would be computed %s times", cause.Number(computed), cause.Brief(a.Took), cause.Number(computed-saved)),
			Evidence: []iikanji.Evidence{
				{Source: "answer", Text: fmt.Sprintf("GET %s without cookies: %d, %s, no Set-Cookie, twice the same, %s without other load; the same as %d clients of the run, and with each header that varied", a.URL, a.Status, a.Bytes, cause.Brief(a.Took), a.Users)},
				{Source: "generator", Text: fmt.Sprintf("%d of %d answers that %d clients got right after each other had the same size", s.Alike, s.Pairs, s.Clients)}},
			Gain:     cause.Between(saved*a.Took.Seconds(), 0.3, 1),
			Remedies: slices.Concat(keepUntilReset(v, r.Key, s, false), keepShort(v, r.Key, computed/wall*wait.Seconds()))}
		if cause.Folds(r.Key) {
			f.Evidence[1] = iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%d URLs; %d of %d answers were beyond one per second for each URL; %d URLs were asked for, and each is the same for all", s.URLs, s.Crowded, r.Count, a.URLs)}
		} else if a.Alive {
			f.Evidence = f.Evidence[:1]
		} else if s.Changes > 0 {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "generator", Text: fmt.Sprintf("its size changed %d times in the run, every %.2g s", s.Changes, wall/float64(s.Changes))})
		}
		if v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// A sharedPage is a route whose answers are proven to be equal for all users.
type sharedPage struct {
	iikanji.Row
	answer   fact.Answer
	series   fact.Series
	computed float64 // answers of the run that were not a 304 that was cheap
}

// sharedPages are the routes of the view's web server whose answers are equal for
// all users. Files are not among them.
func sharedPages(v *cause.View) []sharedPage {
	series := cause.FactsOf(v, fact.TopicSeries)
	answers := cause.FactsOf(v, fact.TopicAnswer)
	var out []sharedPage
	for _, r := range v.Access() {
		g := sharedPage{r, answers[v.Self.Name+" "+r.Key], series[v.Self.Name+" "+r.Key], float64(r.Count)}
		if _, file := cause.StaticPath(r); file || !strings.HasPrefix(r.Key, "GET ") || !everyones(r.Key, g.answer, g.series) {
			continue
		}
		if g.answer.Unchanged == 0 { // a 304 was answered without computing the answer
			g.computed -= float64(r.Web.Status[3])
		}
		out = append(out, g)
	}
	return out
}

// waited is the mean time of a route's answers in the run, from the access log
// or, as many logs have no times, from the load generator. Under load the
// answer that renews a cached one is as slow as all others.
func waited(v *cause.View, r iikanji.Row) time.Duration {
	mean := r.Mean
	for _, s := range v.Input.Run.Steps {
		if cause.SameRoute(s.Step, r.Key) {
			mean = max(mean, s.Mean)
		}
	}
	return mean
}

// keepShort are the remedies for a page that is equal for all users: caching in
// nginx if its path can be expressed there, else in the app. others is the mean
// number of requests that arrive while the answer is computed. When a cached
// answer expires, all requests wait for its renewal. If that matters, the old
// answer is sent while the new one is computed in the background; with a
// lifetime of 2 s, nginx then renews it at an age of one second. It is not proposed where the
// policy allows younger answers only.
func keepShort(v *cause.View, route string, others float64) []iikanji.Remedy {
	path, ok := onePath(route)
	if !ok {
		return v.Patch("cache the answer for 1 s in the app: answers may be that old (freshness)", nil)
	}
	args := func(valid string) map[string]string {
		return map[string]string{"act": "cache", "path": path, "valid": valid, "cookies": "ignore"}
	}
	out := slices.Concat(v.NginxConf("cache it for 1 s in nginx: answers may be that old (freshness)", args("1s")),
		v.NginxConf("cache it for 100 ms, if 1 s is too old", args("100ms")))
	if most := v.Input.Target.Policy.MaxAge; others >= longWait && (most == 0 || most >= iikanji.RenewedAge(2*time.Second)) {
		renewed := args("2s")
		renewed["stale"] = "updating"
		out = append(v.NginxConf("cache it for 2 s in nginx, and renew it in the background: answers may be that old (freshness)", renewed), out...)
	}
	return cause.Proven(append(out, keepInVarnish(v, path)...), iikanji.SameForAll)
}

// keepInVarnish is the remedy of a Varnish that a change can start, or that runs
// behind this nginx. It renews an answer at half of its age in the background, so
// that no answer is older than a second and no request waits for the renewal. A path
// that is passed on to the Varnish already has no such remedy.
func keepInVarnish(v *cause.View, path string) []iikanji.Remedy {
	if !hasVarnish(v) || behindVarnish(v, path) {
		return nil
	}
	args := func(more ...string) map[string]string {
		m := map[string]string{"act": "varnish", "path": path, "valid": "1s", "cookies": "ignore"}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	out := []iikanji.Remedy{v.OnSelf("httpcache", "keep it for 1 s in Varnish, which renews it in the background: answers may be that old (freshness)", args())}
	if writesPer(v) <= mostWrites {
		out = append(out, v.OnSelf("httpcache", "keep it in Varnish until a request that may write, 1 s at most (tested-only)", args("writes", "purge")))
	}
	return out
}

// mostWrites is the largest share of requests that may write with which it can pay to
// drop all kept pages at each of them.
const mostWrites = 0.2

// writesPer is the share of the requests that may write.
func writesPer(v *cause.View) float64 {
	return writeRequests(v) / max(requestsIn(v.Access()), 1)
}

// requestsIn is the number of requests of all rows.
func requestsIn(rows []iikanji.Row) float64 {
	all := 0.0
	for _, r := range rows {
		all += float64(r.Count)
	}
	return all
}

// writeRequests is the number of requests that may write: all methods but GET and
// HEAD.
func writeRequests(v *cause.View) float64 {
	writes := 0.0
	for _, r := range v.Access() {
		if !strings.HasPrefix(r.Key, "GET ") && !strings.HasPrefix(r.Key, "HEAD ") {
			writes += float64(r.Count)
		}
	}
	return writes
}

// everyones reports whether the answers of a route are proven to be equal for all
// users. The answers of a route with many URLs differ in size, so that those of
// different clients cannot be compared; several of its URLs were asked for instead.
func everyones(route string, a fact.Answer, s fact.Series) bool {
	cc := strings.ToLower(a.CacheControl)
	if a.LastModified || a.Unchanged > 0 && a.Unchanged.Seconds() <= (1-cheap304)*a.Took.Seconds() { // a file, or an app that answers 304 cheaply
		return false
	}
	if !a.SameForAll || a.Users < leastUsers || a.Status != 200 || a.Cookie || !a.Same || strings.Contains(cc, "private") || strings.Contains(cc, "no-store") || strings.Contains(strings.ToLower(a.Vary), "cookie") {
		return false
	}
	if a.Alive { // an outside benchmarker keeps no samples: URLs were asked for as its clients
		return int64(a.URLs) >= min(leastURLs, s.URLs)
	}
	if cause.Folds(route) {
		return s.Clients >= leastClients && int64(a.URLs) >= min(leastURLs, s.URLs)
	}
	if s.Clients < leastClients || s.Pairs < leastPairs || float64(s.Alike) < leastAlike*float64(s.Pairs) {
		return false
	}
	// The answer without cookies has the size that the clients received, and is
	// not a shorter page for users who are not logged in.
	size := a.Bytes
	if a.Encoding != "" { // the clients may have received it uncompressed
		return true
	}
	return size+headSize >= s.Least && size <= 2*s.Most
}
