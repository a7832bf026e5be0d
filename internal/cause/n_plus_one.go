package cause

import (
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
)

const (
	manyRequests   = 1.5  // executions per request of the whole run that prove a loop
	manyPerRoute   = 3.0  // executions per request of one route that prove a loop
	manyPerRequest = 1.2  // executions per request that prove a refetch
	longSeries     = 100  // executions in one series that may prove a loop alone
	seriesSame     = 0.1  // largest share of them with values just used
	leastSurplus   = 0.2  // least share of the executions beyond one per request
	refetchEach    = 10.0 // mean number of times that each row of a table is fetched
)

var nPlusOneStatements = Declare(PerDatabase, findNPlusOne,
	Cause{Code: "DB113", Title: "N+1", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "one statement is executed per row of another statement's result",
		Remedies: []Way{Patch}},
	Cause{Code: "DB114", Title: "refetch", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "the same row is fetched repeatedly within one request",
		Remedies: []Way{Patch}})

// findNPlusOne reports loops around statements.
//
// N+1 (DB113), by its parent: a look-up runs once for each row that another
// statement sent, and several times as often as that statement ran. Two counts
// can agree by accident: at most two statements may qualify as the parent, only one
// where the counts differ by more than 3 %, and the fewer rows per execution the parent
// sends, the stronger the other evidence must be (see [view.fits]).
//
// By its route: the number of executions follows the requests of one route, with
// several executions per request (dbroutes.go).
//
// By all requests: a look-up runs more than 1.5 times per request of the whole
// run, in series on one connection. A series alone proves nothing, because
// requests follow each other on a connection; a series of hundreds with new values
// does, in seconds with far fewer requests than executions.
//
// A loop within a loop is one finding, about the inner one.
//
// Refetch (DB114): a look-up by a whole unique key runs many times more often
// than there are rows, or mostly with values that its connection had just used,
// and more than once per request.
func findNPlusOne(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for i, d := range v.digests {
		if !v.lookup(d) {
			continue
		}
		for _, try := range []func(int, digest) (iikanji.Finding, bool){v.nPlusOne, v.refetch, v.perRoute, v.loop} {
			if f, ok := try(i, d); ok {
				out = append(out, f)
				break
			}
		}
	}
	return withoutOuter(out)
}

// withoutOuter leaves out the loops whose rows an inner loop runs over: the
// remedy of the inner one replaces both.
func withoutOuter(loops []iikanji.Finding) []iikanji.Finding {
	inner := map[string]bool{} // parents of loops
	for _, f := range loops {
		for _, r := range f.Remedies {
			inner[r.Args["parent"]] = true
		}
	}
	return slices.DeleteFunc(loops, func(f iikanji.Finding) bool {
		return f.Code == "DB113" && slices.ContainsFunc(f.Remedies, func(r iikanji.Remedy) bool { return r.Args["digest"] != "" && inner[r.Args["digest"]] })
	})
}

func (v *view) nPlusOne(at int, d digest) (iikanji.Finding, bool) {
	p, off, rivals := v.parentOf(at, d)
	most, here := 2, rivals > 0
	if !here {
		p, off, rivals = v.parentElsewhere(d)
		most = 1
	}
	if rivals == 0 || rivals > most || rivals > 1 && off > sameWithin {
		return iikanji.Finding{}, false // two that fit badly fit by chance
	}
	parent, from := p.Query.Digest, "digest "+p.Query.Digest
	if !here { // its digest may be that of a statement here, too
		parent, from = "", "statement "+p.Query.Digest+" of "+p.in
	}
	each := d.q.Count / p.q.Count
	if d.route == nil {
		d.route = p.route
	}
	sure := "the only statement whose rows fit"
	if rivals > 1 {
		sure = "one other statement fits too"
	}
	claim := fmt.Sprintf("%s runs once for each row of another statement: %s× for each of %s executions", cut(d.Query.Fingerprint, 60), times(each), people(p.q.Count))
	f := v.looping(d, claim, p.q.Count, parent, iikanji.Evidence{Source: from,
		Text: fmt.Sprintf("%s× %s sent %s rows in all (%.1f %% off; %s)", people(p.q.Count), cut(p.q.SQL, 100), people(p.q.Sent), 100*off, sure)})
	return f, v.considerable(d.looped(p.q.Count))
}

// parentOf is the statement of the same database whose rows d fits best, how far the
// counts are apart, and how many statements fit.
func (v *view) parentOf(at int, d digest) (parent digest, off float64, rivals int) {
	off = math.Inf(1)
	for i, p := range v.digests {
		if i == at {
			continue
		}
		if miss, ok := v.fits(p, d); ok {
			if rivals++; miss < off {
				parent, off = p, miss
			}
		}
	}
	return parent, off, rivals
}

// parentElsewhere is the same in the other databases of the site: an app may read a
// list in one database and look each row up in another. More statements fit by chance
// there, so the parent has to send many rows, and d has to look up one of its columns.
func (v *view) parentElsewhere(d digest) (parent digest, off float64, rivals int) {
	for _, p := range v.others {
		if p.q.Count*manyPerRow > d.q.Count {
			continue
		}
		if miss, ok := v.fits(p, d); ok && links(p, d) {
			parent, off, rivals = p, miss, rivals+1
		}
	}
	return parent, off, rivals
}

// looping is the finding about a loop that few executions could replace. parent
// is the digest of the statement whose rows are looped over, "" if unknown.
func (v *view) looping(d digest, claim string, few float64, parent string, e ...iikanji.Evidence) iikanji.Finding {
	saved := 1 - few/d.q.Count
	trips := d.q.Count * saved * roundTrip
	if r, ok := v.series(d); ok {
		e = append(e, r)
	}
	args := map[string]string{"digest": d.Query.Digest}
	if d.route != nil {
		args["route"] = d.route.route
	}
	if parent != "" {
		args["parent"] = parent
	}
	return iikanji.Finding{Code: "DB113", Where: d.place(), Claim: claim, Evidence: d.withEvidence(e...),
		Gain:     iikanji.Range{Lo: round(0.3*d.left()*saved + trips/2), Hi: round(d.left()*saved + trips)},
		Remedies: v.patch("fetch all of them at once with IN (…) or a join", args)}
}

// series is the evidence of a digest's series on one connection.
func (v *view) series(d digest) (iikanji.Evidence, bool) {
	r := v.repeat(d)
	return iikanji.Evidence{Source: "threads", Text: fmt.Sprintf("%s series on one connection, the longest of %d; %s executions beyond the first of each, %s with the values just used",
		people(float64(r.Runs)), r.Longest, people(float64(r.Count)), people(float64(r.Same)))}, r.Runs > 0
}

// perRoute finds an N+1 whose parent is unknown and whose route is known, also
// where other routes send the statement too.
func (v *view) perRoute(_ int, d digest) (iikanji.Finding, bool) {
	i := slices.IndexFunc(d.senders, func(f fit) bool { return f.each >= manyPerRoute && f.each-2*f.err >= fewPerRow })
	if i < 0 {
		return iikanji.Finding{}, false
	}
	f := d.senders[i]
	d.route = &f
	claim := fmt.Sprintf("%s runs %s times in each %s: it is sent in a loop", cut(d.Query.Fingerprint, 60), times(f.each), f.route)
	few := d.q.Count * (1 - f.share*(1-1/f.each))
	return v.looping(d, claim, few, ""), v.considerable(d.looped(few))
}

// loop finds an N+1 whose parent and route are unknown.
func (v *view) loop(_ int, d digest) (iikanji.Finding, bool) {
	requests, r := v.requests(), v.repeat(d)
	if requests == 0 || len(d.senders) > 0 { // its routes send it too rarely for a loop
		return iikanji.Finding{}, false
	}
	if d.q.Count >= manyRequests*requests && float64(r.Count) >= d.q.Count/2 {
		claim := fmt.Sprintf("%s runs %.1f times for each request of the run, in series: it is sent in a loop", cut(d.Query.Fingerprint, 60), d.q.Count/requests)
		return v.looping(d, claim, requests, "", v.requestEvidence()), v.considerable(d.looped(requests))
	}
	surplus := v.surplus(d)
	if r.Longest < longSeries || float64(r.Same) > seriesSame*float64(r.Count) || surplus < leastSurplus {
		return iikanji.Finding{}, false
	}
	claim := fmt.Sprintf("%s runs up to %s times in a row on one connection, with new values each time: it is sent in a loop", cut(d.Query.Fingerprint, 60), people(float64(r.Longest)))
	few := d.q.Count - float64(r.Count)
	return v.looping(d, claim, few, "", iikanji.Evidence{Source: "per second", Text: fmt.Sprintf(
		"in the seconds in which it ran most, %.0f %% of its executions exceed one for each request of any route", 100*surplus)}), v.considerable(d.looped(few))
}

// surplus is the share of a digest's executions beyond one for each request that
// ended in the same or the next second. Without a loop there are nearly none.
func (v *view) surplus(d digest) float64 {
	if d.PerSecond == nil {
		return 0
	}
	n := len(d.PerSecond.Counts)
	ended := make([]float64, n+1)
	for _, r := range v.in.rows(iikanji.Access) {
		if r.PerSecond == nil {
			continue
		}
		for i, c := range spread(r.PerSecond, d.PerSecond.From, n+1) {
			ended[i] += c
		}
	}
	over, all := 0.0, 0.0
	for i, c := range d.PerSecond.Counts {
		all += float64(c)
		over += max(0, float64(c)-ended[i]-ended[i+1])
	}
	if all == 0 {
		return 0
	}
	return over / all
}

// requestEvidence is the evidence of the number of requests.
func (v *view) requestEvidence() iikanji.Evidence {
	return iikanji.Evidence{Source: "requests", Text: people(v.requests()) + " requests in the run"}
}

func (v *view) refetch(_ int, d digest) (iikanji.Finding, bool) {
	blk, requests := d.block(), v.requests()
	t := blk.refs[0].table
	if t == nil || len(blk.refs) != 1 || requests == 0 || d.q.Count < manyPerRequest*requests || !blk.whole() {
		return iikanji.Finding{}, false
	}
	if d.q.Count < refetchEach*t.rows() && float64(v.repeat(d).Same) < d.q.Count/2 {
		return iikanji.Finding{}, false
	}
	all := d.left() + d.q.Count*roundTrip
	f := iikanji.Finding{Code: "DB114", Where: d.place(),
		Claim: fmt.Sprintf("%s, %s in all, is fetched %s times, %.1f times per request", t.Name, plural(t.rows(), "row"), people(d.q.Count), d.q.Count/requests),
		Evidence: d.withEvidence(v.requestEvidence(),
			iikanji.Evidence{Source: "schema", Text: fmt.Sprintf("%s has %s", t.name(), plural(t.rows(), "row"))}),
		Gain:     between(all, 0.2, 0.95),
		Remedies: v.patch("fetch it once per request, or keep it in the app's memory and refresh it where it is written", map[string]string{"digest": d.Query.Digest, "table": t.Name}),
	}
	if r, ok := v.series(d); ok {
		f.Evidence = append(f.Evidence, r)
	}
	return f, v.considerable(d.q.Count * costStatement)
}

// looped is the work that is saved when few executions fetch what all of them
// did: most of the round trips, and part of the reading.
func (d digest) looped(few float64) float64 {
	return (1 - few/d.q.Count) * (d.q.Count*costStatement + 0.3*d.q.Examined)
}

// whole reports whether a block fixes all columns of a unique key.
func (blk *block) whole() bool {
	t := blk.refs[0].table
	m := map[string]limits{}
	for _, p := range blk.preds {
		if p.kind == predEq {
			m[p.col] = limits{eq: true}
		}
	}
	for _, ix := range t.real() {
		if ix.Unique && ix.whole(m) {
			return true
		}
	}
	return false
}

// times formats a factor: 2.6, 61.
func times(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.1f", n)
	}
	return people(n)
}
