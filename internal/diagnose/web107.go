package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

const (
	// Answers to different clients right after each other: fewer say nothing,
	// and of them this share must be of one size. An answer that grows while
	// the run lasts differs now and then.
	leastPairs   = 5
	leastClients = 3
	leastAlike   = 0.6
	// headSize is what the head of an answer may have in bytes: the generator
	// counts it, the size of a body does not.
	headSize = 800
	// shortCache is how long an answer would be kept: what a person does not see.
	shortCache = 1.0 // seconds
	// longWait is from how many others on that come, on average, while a kept
	// answer is computed anew it is felt that they wait for it: those whom
	// nginx has wait (proxy_cache_lock) look every 500 ms whether it is there.
	longWait = 0.1
	// cheap304 is the share of the time of an answer that a 304 to it must save
	// for its ETag to be of use: an app that computes the answer to know whether
	// it changed saves nothing.
	cheap304 = 0.5
)

// web107 reports pages that cost much and that everybody gets alike: they
// could be kept for a moment. That an answer is nobody's own is believed only
// when it is given to a stranger without cookies, twice the same, sets no
// cookie, and when the clients of the run got answers of one size at one time.
func web107(v *view) []iikanji.Finding {
	series := known[iikanji.Series](v, iikanji.TopicSeries)
	answers := known[iikanji.Answer](v, iikanji.TopicAnswer)
	if v.in.Run == nil {
		return nil
	}
	wall := v.in.Run.Took.Seconds()
	var out []iikanji.Finding
	for _, r := range v.access() {
		a, s := answers[v.self.Name+" "+r.Key], series[v.self.Name+" "+r.Key]
		if _, file := staticPath(r); file || !strings.HasPrefix(r.Key, "GET ") || folds(r.Key) || !everyones(a, s) {
			continue
		}
		computed := float64(r.Count)
		if a.Unchanged == 0 { // a 304 came from something that has the ETag at hand
			computed -= float64(r.Web.Status[3])
		}
		saved := computed - wall/shortCache
		if saved < computed/2 {
			continue
		}
		wait := max(v.waited(r), a.Took)
		f := iikanji.Finding{Code: "WEB107", Where: r.Key,
			Claim: fmt.Sprintf("everybody gets the same answer, and each of %s is computed anew in %s; kept for 1 s it would be computed %s times", people(computed), brief(a.Took), people(wall/shortCache)),
			Evidence: []iikanji.Evidence{
				{Source: "answer", Text: fmt.Sprintf("GET %s without cookies: %d, %s, no Set-Cookie, twice the same, %s when nothing else was running", a.URL, a.Status, a.Bytes, brief(a.Took))},
				{Source: "generator", Text: fmt.Sprintf("%d of %d answers that %d clients got right after each other had one size", s.Alike, s.Pairs, s.Clients)}},
			Gain:     between(saved*a.Took.Seconds(), 0.3, 1),
			Remedies: v.keepShort(r.Key, computed/wall*wait.Seconds())}
		if s.Changes > 0 {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "generator", Text: fmt.Sprintf("its size changed %d times in the run, every %.2g s", s.Changes, wall/float64(s.Changes))})
		}
		if v.worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// waited is what an answer of a route took in the run as a mean, by the access
// log or, as many have no times, by the load generator. Under load the answer
// that renews a kept one is computed among all others.
func (v *view) waited(r iikanji.Row) time.Duration {
	mean := r.Mean
	for _, s := range v.in.Run.Steps {
		if sameRoute(s.Step, r.Key) {
			mean = max(mean, s.Mean)
		}
	}
	return mean
}

// keepShort are the cures of a page that everybody gets, for which others ask
// while one is computed: by nginx, where its path can be said there, else by
// the app. Kept for a slice of time, it is computed when the slice begins, and
// all who come meanwhile wait for that. Where this is felt, the old answer is
// given out while one is asked for in the background: for 2 s, as nginx renews
// it then when it is one second old.
func (v *view) keepShort(route string, others float64) []iikanji.Remedy {
	path, ok := onePath(route)
	if !ok {
		return v.patch("keep the answer for 1 s in the app: answers may be that old (freshness)", nil)
	}
	args := func(valid string) map[string]string {
		return map[string]string{"act": "cache", "path": path, "valid": valid, "cookies": "ignore"}
	}
	out := slices.Concat(v.nginxconf("keep it for 1 s in nginx: answers may be that old (freshness)", args("1s")),
		v.nginxconf("keep it for 100 ms, if 1 s is too old", args("100ms")))
	if others >= longWait {
		renewed := args("2s")
		renewed["stale"] = "updating"
		out = append(v.nginxconf("keep it for 2 s in nginx, and renew it in the background: answers may be that old (freshness)", renewed), out...)
	}
	return out
}

// brief is a time with three digits at the most behind its unit's point.
func brief(d time.Duration) time.Duration {
	for unit := time.Second; unit >= time.Microsecond; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}

// everyones says whether an answer is proven to be the same for everyone.
func everyones(a iikanji.Answer, s iikanji.Series) bool {
	cc := strings.ToLower(a.CacheControl)
	if a.LastModified || a.Unchanged > 0 && a.Unchanged.Seconds() <= (1-cheap304)*a.Took.Seconds() { // a file, or an app that sees to it by itself
		return false
	}
	if a.Status != 200 || a.Cookie || !a.Same || strings.Contains(cc, "private") || strings.Contains(cc, "no-store") || strings.Contains(strings.ToLower(a.Vary), "cookie") {
		return false
	}
	if s.Clients < leastClients || s.Pairs < leastPairs || float64(s.Alike) < leastAlike*float64(s.Pairs) {
		return false
	}
	// A stranger gets what the clients got, and no shorter page of his own.
	size := a.Bytes
	if a.Encoding != "" { // the clients may have taken it as it is
		return true
	}
	return size+headSize >= s.Least && size <= 2*s.Most
}
