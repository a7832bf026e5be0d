package diagnose

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	// leastFixed is how many URLs must have been asked for again, each with one
	// size of its own, before a route that is no file's is taken for one whose
	// answers do not change.
	leastFixed = 3
	// leastFile is the mean size of such answers: what is smaller may be a
	// record with fields of fixed length that changes.
	leastFile = 4 << 10
)

// web106 reports answers that never changed during the run and that clients
// may not keep, because nobody tells them for how long.
func web106(v *view) []iikanji.Finding {
	series := known[iikanji.Series](v, iikanji.TopicSeries)
	answers := known[iikanji.Answer](v, iikanji.TopicAnswer)
	folders := map[string]*iikanji.Finding{}
	var out []iikanji.Finding
	for _, r := range v.access() {
		s, seen := series[v.self.Name+" "+r.Key]
		if !seen || s.FixedRepeats == 0 || s.FixedBytes == 0 || !v.fixed(r.Key, s) { // without bytes nobody knows their sizes
			continue
		}
		a, asked := answers[v.self.Name+" "+r.Key]
		gain := iikanji.Range{Hi: float64(s.FixedRepeats)*viaApp.Hi + float64(s.FixedBytes)/link}
		told := iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%s: of %d URLs that were asked for again %d answered each time with the same size, %s answers and %s beyond the first",
			r.Key, s.Again, s.Fixed, people(float64(s.FixedRepeats)), s.FixedBytes)}
		if _, file := staticPath(r); file && asked && a.Status == 200 && !expires(a) {
			where, remedies := v.keep(r)
			f := folders[where]
			if f == nil {
				f = &iikanji.Finding{Code: "WEB106", Where: "GET " + where}
				folders[where] = f
			}
			f.Evidence = append(f.Evidence, told, headers(a))
			f.Gain.Hi += gain.Hi
			if len(f.Remedies) == 0 || !hashed(r.Example.Text) {
				f.Remedies = remedies
			}
		} else if !file && dataLike(r, s, a, asked) {
			out = append(out, iikanji.Finding{Code: "WEB106", Where: r.Key, Evidence: []iikanji.Evidence{told, {Source: "access log",
				Text: fmt.Sprintf("%d different sizes, no answer was 304, mean %s", s.Sizes, r.Web.Bytes/iikanji.Bytes(max(r.Count, 1)))}}, Gain: gain,
				Claim:    fmt.Sprintf("the answers of %s did not change in the run, and each is sent in full each time", r.Key),
				Remedies: v.keepData(r.Key)})
		}
	}
	for _, where := range slices.Sorted(maps.Keys(folders)) {
		f := folders[where]
		f.Claim = where + " did not change in the run, and clients are not told that they may keep it"
		if strings.HasSuffix(where, "/") {
			f.Claim = "files in " + where + " did not change in the run, and clients are not told that they may keep them"
		}
		out = append(out, *f)
	}
	for i := range out {
		out[i].Gain.Hi = round(out[i].Gain.Hi)
	}
	return slices.DeleteFunc(out, func(f iikanji.Finding) bool { return !v.worth(f.Gain) })
}

// leastShareFixed is the share of the URLs that must have answered with one
// size each although clients gave up in the middle of answers.
const leastShareFixed = 0.8

// fixed says whether no answer of a route changed its size, but for those that
// clients did not wait for: they are short, and look like others.
func (v *view) fixed(route string, s iikanji.Series) bool {
	odd, torn := s.Again-s.Fixed, int64(0)
	if v.in.Run != nil {
		for _, st := range v.in.Run.Steps {
			if sameRoute(st.Step, route) {
				torn += st.Timeouts + st.Cut
			}
		}
	}
	return odd <= torn && float64(s.Fixed) >= leastShareFixed*float64(s.Again)
}

// dataLike says whether a route that is no file's by name answers like one:
// every URL has a size of its own that never changed, without a query, and
// nobody could ask whether it did.
func dataLike(r iikanji.Row, s iikanji.Series, a iikanji.Answer, asked bool) bool {
	if !folds(r.Key) || strings.Contains(r.Example.Text, "?") || s.Fixed < leastFixed || s.Sizes < leastFixed || r.Web.Status[3] > 0 {
		return false
	}
	if asked && a.Status == 200 && (expires(a) || a.ETag || a.LastModified || textual(a.Type)) {
		return false
	}
	return r.Web.Bytes >= leastFile*iikanji.Bytes(r.Count)
}

var ages = regexp.MustCompile(`(?i)\b(max-age|s-maxage|immutable|no-store|no-cache|private)\b`)

// expires says whether an answer says for how long it holds, that it must not
// be kept, or that it must be asked for each time (no-cache: a page that names
// the files of the newest version, a service worker).
func expires(a iikanji.Answer) bool { return a.Expires || ages.MatchString(a.CacheControl) }

// headers is an answer's say on being kept.
func headers(a iikanji.Answer) iikanji.Evidence {
	has := func(b bool, name string) string {
		if b {
			return name
		}
		return "no " + name
	}
	return iikanji.Evidence{Source: "answer", Text: fmt.Sprintf("GET %s: %s, %s, no Cache-Control with an age, no Expires", a.URL, has(a.ETag, "ETag"), has(a.LastModified, "Last-Modified"))}
}

var hashes = regexp.MustCompile(`[.-][0-9a-f]{8,}\.[a-z0-9]+(\?|$)`)

// hashed says whether a file's name has a hash of its content: then it can be
// kept for ever.
func hashed(url string) bool { return hashes.MatchString(url) }

// keep is what a file's finding is about, its folder or itself, and its cure.
// Files in the root stand for themselves: what holds for all in it would hold
// for every page and every answer of the app.
func (v *view) keep(r iikanji.Row) (where string, _ []iikanji.Remedy) {
	where, ok := folderOf(r.Key)
	path := where
	if !ok {
		where = pathOf(r.Key)
		path, ok = onePath(r.Key)
	}
	if !ok {
		return where, v.patch("send Cache-Control with an age, or a location of their own for these files that has expires", nil)
	}
	says, args := "let clients keep them for an hour", map[string]string{"act": "expires", "path": path, "expires": "1h", "cache-control": "public"}
	if hashed(r.Example.Text) {
		says = "let clients keep them for ever: their names hold a hash of what is in them"
		args["expires"], args["cache-control"] = "365d", "public, immutable"
	}
	return where, v.nginxconf(says, args)
}

// keepData are the cures of a route that is no file's by name.
func (v *view) keepData(route string) []iikanji.Remedy {
	out := v.patch("keep them as files and send an ETag; answer 304", nil)
	if path, ok := onePath(route); ok {
		out = append(v.nginxconf("let each client keep them: expires, private", map[string]string{"act": "expires", "path": path, "expires": "1h", "cache-control": "private"}), out...)
	}
	return out
}
