package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A heat is the time that a place in source took in a run.
type heat struct {
	seconds  float64 // of the binding resource, as far as it is known
	left     float64 // of these: what no advised index saves; of statements only
	share    float64 // of all seconds of that sort
	rows     float64 // that one execution of its statements read or sent; 0 if unknown
	reading  float64 // CPU seconds in which the app read the rows of its statements, at most; 0 if unknown
	evidence []iikanji.Evidence
}

// heatOf finds the time of a site: of its statements, or of the programs that it starts, else of its
// function in the profile of the app's CPU, else of the requests that reach its function.
func heatOf(v *cause.View, s cause.Site) heat {
	if s.Lever.Of == iikanji.OfStatements && statementsSeen(v) && (s.Lever.Whole || textsKnown(s)) {
		return statementHeat(v, s)
	}
	if h, ok := programHeat(v, s); ok {
		return h
	}
	if h, ok := profileHeat(v, s); ok {
		return h
	}
	return routeHeat(v, s)
}

// statementsSeen reports whether any database's statements were seen.
func statementsSeen(v *cause.View) bool { return len(v.Digests) > 0 }

// textsKnown reports whether the source shows statements of a site. A mapper makes its own: the
// time of such a place is that of its function.
func textsKnown(s cause.Site) bool {
	return slices.ContainsFunc(s.Places, func(p fact.CodePlace) bool { return len(p.Digests)+len(p.Statements) > 0 })
}

// statementHeat sums up the digests of a site's statements.
func statementHeat(v *cause.View, s cause.Site) heat {
	var h heat
	count, sent, read, took, left := 0.0, 0.0, 0.0, 0.0, 0.0
	seen, beside := map[string]bool{}, unshown(v, s)
	for _, w := range v.Databases {
		for _, d := range w.Digests {
			if d.Query == nil || seen[w.Self.Name+d.Query.Digest] || !s.Sends(d) && !beside(d) {
				continue
			}
			seen[w.Self.Name+d.Query.Digest] = true
			part := portion(v, s, d)
			took, left = took+d.Total.Seconds()*part, left+d.Left()*part
			h.seconds += d.Total.Seconds() * w.Weight * part
			h.left += d.Left() * w.Weight * part
			count, sent, read = count+float64(d.Count), sent+float64(d.Query.Sent), read+float64(max(d.Query.Sent, d.Query.Examined))
			h.evidence = append(h.evidence, iikanji.Evidence{Source: "digest " + d.Query.Digest,
				Text: fmt.Sprintf("%s executions, %.1f s, %s rows sent", cause.Number(float64(d.Count)), d.Total.Seconds(), cause.Number(float64(d.Query.Sent)))})
		}
	}
	if v.Seconds > 0 {
		h.share = took / v.Seconds
	}
	if rest := v.Rest(); rest > 0 {
		h.share = max(h.share, left/rest)
	}
	if count > 0 {
		h.rows = read / count
	}
	if all, cpu := rowsSent(v), cpuOf(v, s.Service); all > 0 && cpu > 0 {
		h.reading = readingOf(v, s.Service) * sent / all
		h.share = max(h.share, h.reading/cpu)
	}
	h.evidence = append(h.evidence, reachedBy(v, s)...)
	return h
}

// portion is the share of a digest's executions that a site is charged with. No log
// shows which function sent a statement: the share is that of the routes that reach the
// site's function among those found to send the statement. Where these are not known,
// it is the site's share of the requests that reach any site with the statement.
func portion(v *cause.View, s cause.Site, d cause.Digest) float64 {
	own, all := 0.0, 0.0
	for _, f := range d.Senders {
		all += f.Share
		if v.Reaches(s.Service, f.Route, s.At().Func) {
			own += f.Share
		}
	}
	if all >= cause.FitShare {
		return min(1, own/all)
	}
	own, all = requestsTo(v, s), 0
	for _, o := range v.Sites {
		if o.Lever.Code == s.Lever.Code && o.Service == s.Service && o.Sends(d) {
			all += requestsTo(v, o)
		}
	}
	if own == 0 || all == 0 {
		return 1
	}
	return own / all
}

// requestsTo counts the requests of the routes that reach a site.
func requestsTo(v *cause.View, s cause.Site) float64 {
	n := 0.0
	for _, r := range v.Access() {
		if v.Reaches(s.Service, r.Key, s.At().Func) {
			n += float64(r.Count)
		}
	}
	return n
}

// databasePackage is what every driver of a Go app is called by.
const databasePackage = "database/sql"

// readingOf is the CPU time in which a service sent statements and read their rows, by the
// profile of its CPU: in database/sql and in the driver below it. 0 without a profile.
func readingOf(v *cause.View, service string) float64 {
	for _, f := range v.Input.Facts {
		if hot, ok := cause.Decode(f, fact.TopicHot); ok && f.Target == service && hot.Package == databasePackage {
			return hot.Each.Seconds()
		}
	}
	return 0
}

// rowsSent is the number of rows that all statements returned.
func rowsSent(v *cause.View) float64 {
	n := 0.0
	for _, d := range v.Digests {
		if d.Query != nil {
			n += float64(d.Query.Sent)
		}
	}
	return n
}

// cpuOf is the CPU time of a service.
func cpuOf(v *cause.View, service string) float64 {
	if v.Input.Run == nil {
		return 0
	}
	return cause.UsedBy(v.Input.Run, service)
}

// profileHeat is the CPU time of a site's function, where a profile of the app has
// it.
func profileHeat(v *cause.View, s cause.Site) (heat, bool) {
	p := s.At()
	if p.Func == "" {
		return heat{}, false
	}
	for _, f := range v.Input.Facts {
		hot, ok := cause.Decode(f, fact.TopicHot)
		if !ok || f.Target != s.Service || f.Key != p.Func || hot.Package != "" {
			continue
		}
		h := heat{seconds: hot.Each.Seconds()}
		if all := cpuOf(v, s.Service); all > 0 {
			h.share = h.seconds / all
		}
		h.evidence = append([]iikanji.Evidence{{Source: "CPU profile", Text: fmt.Sprintf("%s and what it calls: %.1f s of CPU", p.Func, h.seconds)}}, reachedBy(v, s)...)
		return h, true
	}
	return heat{}, false
}

// routeHeat is the part of the app's CPU time of the routes whose handler reaches a
// site's function: in proportion to the time of their requests, for a knob to their
// number, because what it throttles is fast. Declarations outside of functions are
// taken to be of all routes, and so are knobs in functions that no route reaches,
// such as those that set up a pool.
func routeHeat(v *cause.View, s cause.Site) heat {
	all, own := 0.0, 0.0
	p := s.At()
	any := p.Func == ""
	if p.Knob() && !any {
		any = !slices.ContainsFunc(v.Input.Facts, func(f iikanji.Fact) bool {
			h, ok := cause.Decode(f, fact.TopicHandler)
			return ok && f.Target == s.Service && (h.Func == p.Func || slices.Contains(h.Reaches, p.Func))
		})
	}
	for _, r := range routeTimes(v, p.Knob()) {
		all += r.weight
		if any || v.Reaches(s.Service, r.route, p.Func) {
			own += r.weight
		}
	}
	if all == 0 {
		return heat{}
	}
	return heat{seconds: cpuOf(v, s.Service) * own / all, share: own / all, evidence: reachedBy(v, s)}
}

// A routeTime is the weight of a route among all routes.
type routeTime struct {
	route  string
	weight float64
}

// leastWork is the least share of a route's time that is taken for the app's own work: the
// statements of a request may overlap, and their seconds are then more than its time.
const leastWork = 0.02

// routeTimes are the routes with the seconds of their requests, less those of the statements
// that they are known to send, in which the app waits: in the apps from the access log, else
// as the load generator measured them; or with their numbers.
func routeTimes(v *cause.View, numbers bool) []routeTime {
	var out []routeTime
	sum, sent := 0.0, sentBy(v)
	for _, r := range v.Access() {
		took := r.Web.Upstream.Seconds()
		if took == 0 {
			took = r.Total.Seconds()
		}
		took = max(took-sent[r.Key], leastWork*took)
		if numbers {
			took = float64(r.Count)
		}
		sum += took
		out = append(out, routeTime{r.Key, took})
	}
	if sum > 0 || v.Input.Run == nil {
		return out
	}
	out = nil
	for _, st := range v.Input.Run.Steps {
		words := strings.Fields(st.Step)
		if len(words) < 2 || !strings.HasPrefix(words[1], "/") {
			continue
		}
		weight := st.Total.Seconds()
		if numbers {
			weight = float64(st.Count)
		}
		out = append(out, routeTime{words[0] + " " + words[1], weight})
	}
	return out
}

// mostReaching bounds the routes that evidence names.
const mostReaching = 3

// reachedBy names the routes that reach a site, the most frequent first.
func reachedBy(v *cause.View, s cause.Site) []iikanji.Evidence {
	if s.At().Func == "" {
		return nil
	}
	rows := slices.DeleteFunc(v.Access(), func(r iikanji.Row) bool { return !v.Reaches(s.Service, r.Key, s.At().Func) })
	slices.SortStableFunc(rows, func(a, b iikanji.Row) int { return int(b.Count - a.Count) })
	var texts []string
	for _, r := range rows[:min(len(rows), mostReaching)] {
		texts = append(texts, fmt.Sprintf("%s (%s requests)", r.Key, cause.Number(float64(r.Count))))
	}
	if len(texts) == 0 {
		return nil
	}
	return []iikanji.Evidence{{Source: "routes", Text: "reached by " + strings.Join(texts, ", ")}}
}

// savedOf is the range of seconds that the rewrite of a site saves.
func savedOf(v *cause.View, s hotSite) iikanji.Range {
	share := s.Lever.Saved
	if s.Lever.OneRow && s.heat.rows > 0 {
		most := 1 - 1/max(1, s.heat.rows)
		share = iikanji.Range{Lo: 0.5 * most, Hi: most}
	}
	out := cause.Between(s.heat.seconds, share.Lo, share.Hi)
	if s.Lever.Whole && s.Lever.Of == iikanji.OfStatements && statementsSeen(v) { // an index answers all of them, also the first of each
		out = cause.Between(s.heat.left, share.Lo, share.Hi)
	}
	if s.Lever.Of == iikanji.OfStatements {
		out.Hi = cause.Round(out.Hi + s.heat.reading*share.Hi)
	}
	return out
}
