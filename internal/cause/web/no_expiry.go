package web

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// leastFixed is the least number of URLs that were requested repeatedly, each
	// with a constant size of its own, for a route without a file extension to
	// count as constant.
	leastFixed = 3
	// leastFile is the least mean size of such answers: a smaller one may be a
	// changing record with fields of fixed length.
	leastFile = 4 << 10
)

var noExpiry = cause.Declare(cause.PerWeb, findNoExpiry,
	cause.Cause{Code: "WEB106", Title: "no validators or expiry", Of: iikanji.OfCPU, Relieves: cause.CPU | cause.Disk,
		Line:     "answers that never change are sent in full each time",
		Remedies: []cause.Way{cause.Plan("nginxconf", "expires", iikanji.RoleWeb), cause.Patch, cause.Person}})

// findNoExpiry reports answers that never changed during the run and that clients may
// not keep, because no header permits it.
func findNoExpiry(v *cause.View) []iikanji.Finding {
	series := cause.FactsOf(v, fact.TopicSeries)
	answers := cause.FactsOf(v, fact.TopicAnswer)
	folders := map[string]*iikanji.Finding{}
	var out []iikanji.Finding
	for _, r := range v.Access() {
		s, seen := series[v.Self.Name+" "+r.Key]
		if !seen || s.FixedRepeats == 0 || s.FixedBytes == 0 || !fixed(v, r.Key, s) { // without bytes the sizes are unknown
			continue
		}
		a, asked := answers[v.Self.Name+" "+r.Key]
		gain := iikanji.Range{Hi: float64(s.FixedRepeats)*viaApp.Hi + float64(s.FixedBytes)/cause.LinkSpeed}
		sizes := iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%s: of %d URLs that were requested again, %d always had the same size; %s answers and %s beyond the first",
			r.Key, s.Again, s.Fixed, cause.Number(float64(s.FixedRepeats)), s.FixedBytes)}
		if _, file := cause.StaticPath(r); file && asked && a.Status == 200 && !expires(a) {
			where, remedies := keep(v, r, a)
			f := folders[where]
			if f == nil {
				f = &iikanji.Finding{Code: "WEB106", Where: "GET " + where}
				folders[where] = f
			}
			f.Evidence = append(f.Evidence, sizes, headers(a))
			f.Gain.Hi += gain.Hi
			if len(f.Remedies) == 0 || !hashed(r.Example.Text) {
				f.Remedies = remedies
			}
		} else if !file && dataLike(r, s, a, asked) {
			out = append(out, iikanji.Finding{Code: "WEB106", Where: r.Key, Evidence: []iikanji.Evidence{sizes, {Source: "access log",
				Text: fmt.Sprintf("%d different sizes, no answer was 304, mean %s", s.Sizes, r.Web.Bytes/iikanji.Bytes(max(r.Count, 1)))}}, Gain: gain,
				Claim:    fmt.Sprintf("the answers of %s did not change in the run, and each is sent in full each time", r.Key),
				Remedies: keepData(v, r.Key)})
		}
	}
	for _, where := range slices.Sorted(maps.Keys(folders)) {
		f := folders[where]
		f.Claim = where + " did not change in the run, but no header allows clients to keep it"
		if strings.HasSuffix(where, "/") {
			f.Claim = "files in " + where + " did not change in the run, but no header allows clients to keep them"
		}
		out = append(out, *f)
	}
	for i := range out {
		out[i].Gain.Hi = cause.Round(out[i].Gain.Hi)
	}
	return slices.DeleteFunc(out, func(f iikanji.Finding) bool { return !v.Worth(f.Gain) })
}

// leastShareFixed is the least share of URLs with one size each although
// clients aborted some answers.
const leastShareFixed = 0.8

// fixed reports whether no answer of a route changed its size, except answers
// that clients aborted: these are cut short.
func fixed(v *cause.View, route string, s fact.Series) bool {
	odd, torn := s.Again-s.Fixed, int64(0)
	if v.Input.Run != nil {
		for _, st := range v.Input.Run.Steps {
			if cause.SameRoute(st.Step, route) {
				torn += st.Timeouts + st.QuietTimeouts + st.Cut
			}
		}
	}
	return odd <= torn && float64(s.Fixed) >= leastShareFixed*float64(s.Again)
}

// dataLike reports whether a route without a file extension answers like a
// file: each URL has a constant size of its own and no query, and there was no
// conditional request.
func dataLike(r iikanji.Row, s fact.Series, a fact.Answer, asked bool) bool {
	if !cause.Folds(r.Key) || strings.Contains(r.Example.Text, "?") || s.Fixed < leastFixed || s.Sizes < leastFixed || r.Web.Status[3] > 0 {
		return false
	}
	if asked && a.Status == 200 && (expires(a) || a.ETag || a.LastModified || textual(a.Type)) {
		return false
	}
	return r.Web.Bytes >= leastFile*iikanji.Bytes(r.Count)
}

var ages = regexp.MustCompile(`(?i)\b(max-age|s-maxage|immutable|no-store|no-cache|private)\b`)

// expires reports whether an answer has a lifetime, must not be kept, or must
// be revalidated each time (no-cache: a page that names the newest files, a
// service worker).
func expires(a fact.Answer) bool { return a.Expires || ages.MatchString(a.CacheControl) }

// headers is the evidence of an answer's caching headers.
func headers(a fact.Answer) iikanji.Evidence {
	has := func(b bool, name string) string {
		if b {
			return "with " + name
		}
		return "no " + name
	}
	return iikanji.Evidence{Source: "answer", Text: fmt.Sprintf("GET %s: %s, %s, no Cache-Control with an age, no Expires", a.URL, has(a.ETag, "ETag"), has(a.LastModified, "Last-Modified"))}
}

var hashes = regexp.MustCompile(`[.-][0-9a-f]{8,}\.[a-z0-9]+(\?|$)`)

// hashed reports whether a file's name contains a hash of its content: then it
// can be kept forever.
func hashed(url string) bool { return hashes.MatchString(url) }

// keep is the place of a file's finding, its folder or the file itself, and the
// remedies. A file in the root folder is its own place: a rule for the root
// folder would apply to all pages and answers of the app.
func keep(v *cause.View, r iikanji.Row, a fact.Answer) (where string, _ []iikanji.Remedy) {
	where, ok := folderOf(r.Key)
	path := where
	if !ok {
		where = pathOf(r.Key)
		path, ok = onePath(r.Key)
	}
	if !ok {
		return where, v.Patch("send Cache-Control with an age, or add a location with expires for these files", nil)
	}
	if most, older := tooOld(v, path); older {
		return where, []iikanji.Remedy{iikanji.ByPerson(v.Self.Name, fmt.Sprintf("name %s in fixed of the policy if these files never change: it allows answers that are %s old at most", path, most))}
	}
	says, args := "let clients keep them for an hour", map[string]string{"act": "expires", "path": path, "expires": "1h", "cache-control": "public"}
	if hashed(r.Example.Text) {
		says = "let clients keep them for ever: their names contain a hash of the content"
		args["expires"], args["cache-control"] = "365d", "public, immutable"
	}
	if a.File == "" && !a.SameForAll { // it may be one client's own: proxies between must not keep it
		args["cache-control"] = strings.Replace(args["cache-control"], "public", "private", 1)
		return where, v.NginxConf(says, args)
	}
	return where, cause.Proven(v.NginxConf(says, args), iikanji.SameForAll)
}

// leastKept is the shortest time for which clients are to keep files.
const leastKept = time.Hour

// tooOld reports whether the policy refuses to keep the answers of a path for leastKept, and
// its limit.
func tooOld(v *cause.View, path string) (most time.Duration, older bool) {
	p := v.Input.Target.Policy
	return p.MaxAge, p.MaxAge > 0 && p.MaxAge < leastKept && !p.Fixes(path)
}

// keepData are the remedies for a route without a file extension.
func keepData(v *cause.View, route string) []iikanji.Remedy {
	out := v.Patch("store them as files and send an ETag, so that the answer is a 304", nil)
	path, ok := onePath(route)
	if _, older := tooOld(v, path); ok && !older {
		out = append(v.NginxConf("let each client keep them: expires, private", map[string]string{"act": "expires", "path": path, "expires": "1h", "cache-control": "private"}), out...)
	}
	return out
}
