package observe

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// brokenDown are the statuses that are broken down by route: the client gave
// up, or the app did not answer.
var brokenDown = []string{"499", "502", "503", "504"}

// statuses are facts: statuses broken down by route.
// Requests that the end of the load cut off are 499 too, but are logged later.
func (a *accessRead) statuses(service string) ([]iikanji.Fact, error) {
	var out []iikanji.Fact
	for _, s := range a.byStatus {
		var empty *accesslog.EmptyError
		if errors.As(s.Err, &empty) { // no answer has this status
			continue
		}
		if s.Err != nil {
			return nil, s.Err
		}
		for _, r := range s.Profile.Rows {
			out = append(out, fact.TopicHTTPStatus.Fact(service, s.status+" "+r.Key, r.Count, true))
		}
	}
	return out, nil
}

// seriesOf folds the rows of URLs into routes.
func seriesOf(access, urls *iikanji.Profile) map[string]*fact.Series {
	out := map[string]*fact.Series{}
	sizes, most := map[string]map[iikanji.Bytes]bool{}, map[string]iikanji.Bytes{}
	for _, r := range urls.Rows {
		route := routeFor(access, r.Key)
		if route == "" || r.Web == nil {
			continue
		}
		s := out[route]
		if s == nil {
			s = &fact.Series{}
			out[route], sizes[route] = s, map[iikanji.Bytes]bool{}
		}
		if _, url, ok := strings.Cut(r.Key, " "); ok && (s.Heaviest == "" || r.Web.Bytes > most[route]) {
			s.Heaviest, most[route] = url, r.Web.Bytes
		}
		s.URLs++
		s.Repeats += r.Count - 1
		if r.Count < 2 || r.Web.MaxBytes == 0 { // a log without sizes has 0 for all
			continue
		}
		s.Again++
		if oneSize(r) {
			s.Fixed++
			s.FixedRepeats += r.Count - 1
			s.FixedBytes += r.Web.Bytes - r.Web.MaxBytes
			sizes[route][r.Web.MaxBytes] = true
		}
	}
	for route, s := range out {
		s.Sizes = int64(len(sizes[route]))
	}
	return out
}

// addURLs adds to the series of routes their most requested URLs, and how many
// answers a cache that renews each URL once in a second would have saved in a load
// of this length.
func addURLs(series map[string]*fact.Series, access, urls *iikanji.Profile, took time.Duration) {
	rows := slices.Clone(urls.Rows)
	slices.SortStableFunc(rows, func(a, b iikanji.Row) int { return cmp.Compare(b.Count, a.Count) })
	for _, r := range rows {
		s := series[routeFor(access, r.Key)]
		_, url, ok := strings.Cut(r.Key, " ")
		if s == nil || !ok {
			continue
		}
		s.Crowded += max(0, r.Count-int64(took.Seconds()+1))
		if i := slices.Index(s.Others[:], ""); i >= 0 && url != s.Heaviest {
			s.Others[i] = url
		}
	}
}

// framing bounds the difference of the sizes of one body in nginx's log, as a
// share of the body: an answer without Content-Length is passed on in chunks as
// they arrive, and their heads (6 bytes and more each) are counted.
const framing = 1.0 / 400

// oneSize reports whether all answers of a URL had one size, apart from framing.
func oneSize(r iikanji.Row) bool {
	below := float64(r.Web.MaxBytes) - float64(r.Web.Bytes)/float64(r.Count)
	return below <= min(64, float64(r.Web.MaxBytes)*framing)
}

// routeFor finds the row of a profile by routes that a URL belongs to, as in "GET
// /a/7?x=1": of those that fit, the one with the most literal words; "" for none.
func routeFor(p *iikanji.Profile, url string) string {
	url, _, _ = strings.Cut(url, "?")
	best, most := "", -1
	for _, r := range p.Rows {
		if n, ok := fits(r.Key, url); ok && n > most {
			best, most = r.Key, n
		}
	}
	return best
}

// fits reports whether a route covers a path, and how many of the route's
// segments are words. A segment that begins with a colon stands for any; behind its name
// may be an ending, as in ":file.js".
func fits(route, url string) (words int, ok bool) {
	for {
		a, restA, moreA := strings.Cut(route, "/")
		b, restB, moreB := strings.Cut(url, "/")
		switch {
		case a == b:
			words++
		case strings.HasPrefix(a, ":") && b != "":
			if dot := strings.LastIndexByte(a, '.'); dot > 0 && !strings.HasSuffix(b, a[dot:]) {
				return 0, false
			}
		default:
			return 0, false
		}
		if moreA != moreB {
			return 0, false
		}
		if !moreA {
			return words, true
		}
		route, url = restA, restB
	}
}

// urlsToAsk are URLs by route, of the routes of a service whose answers are
// worth to be looked at: of each route with successful GETs, the URL that most
// bytes were sent for.
func urlsToAsk(seen []iikanji.Fact, service string) map[string]string {
	out := map[string]string{}
	for f, s := range fact.TopicSeries.In(seen) {
		if f.Target == service && strings.HasPrefix(s.Heaviest, "/") {
			out[f.Key] = s.Heaviest
		}
	}
	return out
}

// othersToAsk are further URLs of these routes.
func othersToAsk(seen []iikanji.Fact, service string) map[string][]string {
	out := map[string][]string{}
	for f, s := range fact.TopicSeries.In(seen) {
		if f.Target != service {
			continue
		}
		for _, url := range s.Others {
			if strings.HasPrefix(url, "/") {
				out[f.Key] = append(out[f.Key], url)
			}
		}
	}
	return out
}
