package database

import (
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
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

var nPlusOneStatements = cause.Declare(cause.PerDatabase, findNPlusOne,
	cause.Cause{Code: "DB113", Title: "N+1", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "one statement is executed per row of another statement's result",
		Remedies: []cause.Way{cause.Patch}},
	cause.Cause{Code: "DB114", Title: "refetch", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "the same row is fetched repeatedly within one request",
		Remedies: []cause.Way{cause.Patch}})

// findNPlusOne reports loops around statements.
//
// N+1 (DB113), by its parent: a look-up runs once for each row that another
// statement sent, and several times as often as that statement ran. Two counts
// can agree by accident: at most two statements may qualify as the parent, only one
// where the counts differ by more than 3 %, and the fewer rows per execution the parent
// sends, the stronger the other evidence must be (see [cause.View.Fits]).
//
// By its route: the number of executions follows the requests of one route, with
// several executions per request (dbroutes.go).
//
// By all requests: a look-up runs more than 1.5 times per request of the whole
// run, in series on one connection. A series alone proves nothing, because
// requests follow each other on a connection; a series of hundreds with new values
// does, in seconds with far fewer requests than executions.
//
// A loop within a loop is one finding, about the inner one. Writes in loops are found by their
// routes and transactions (n_plus_one_write.go).
//
// Refetch (DB114): a look-up by a whole unique key runs many times more often
// than there are rows, or mostly with values that its connection had just used,
// and more than once per request.
func findNPlusOne(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for i, d := range v.Digests {
		if f, ok := writeLoop(v, d); ok {
			out = append(out, f)
		}
		if !v.Lookup(d) {
			continue
		}
		for _, try := range []func(*cause.View, int, cause.Digest) (iikanji.Finding, bool){nPlusOne, refetch, perRoute, loop} {
			if f, ok := try(v, i, d); ok {
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

func nPlusOne(v *cause.View, at int, d cause.Digest) (iikanji.Finding, bool) {
	p, off, rivals := parentOf(v, at, d)
	most, here := 2, rivals > 0
	if !here {
		p, off, rivals = parentElsewhere(v, d)
		most = 1
	}
	if rivals == 0 || rivals > most || rivals > 1 && off > cause.SameWithin {
		return iikanji.Finding{}, false // two that fit badly fit by chance
	}
	parent, from := p.Query.Digest, "digest "+p.Query.Digest
	if !here { // its digest may be that of a statement here, too
		parent, from = "", "statement "+p.Query.Digest+" of "+p.Database
	}
	each := d.Totals.Count / p.Totals.Count
	if d.Route == nil {
		d.Route = p.Route
	}
	sure := "the only statement whose rows fit"
	if rivals > 1 {
		sure = "one other statement fits too"
	}
	claim := fmt.Sprintf("%s runs once for each row of another statement: %s× for each of %s executions", cause.Cut(d.Query.Fingerprint, 60), times(each), cause.Number(p.Totals.Count))
	f := looping(v, d, claim, p.Totals.Count, parent, iikanji.Evidence{Source: from,
		Text: fmt.Sprintf("%s× %s sent %s rows in all (%.1f %% off; %s)", cause.Number(p.Totals.Count), cause.Cut(p.Totals.SQL, 100), cause.Number(p.Totals.Sent), 100*off, sure)})
	return f, v.Considerable(looped(d, p.Totals.Count))
}

// parentOf is the statement of the same database whose rows d fits best, how far the
// counts are apart, and how many statements fit.
func parentOf(v *cause.View, at int, d cause.Digest) (parent cause.Digest, off float64, rivals int) {
	off = math.Inf(1)
	for i, p := range v.Digests {
		if i == at {
			continue
		}
		if miss, ok := v.Fits(p, d); ok {
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
func parentElsewhere(v *cause.View, d cause.Digest) (parent cause.Digest, off float64, rivals int) {
	for _, p := range v.Others {
		if p.Totals.Count*cause.ManyPerRow > d.Totals.Count {
			continue
		}
		if miss, ok := v.Fits(p, d); ok && cause.Links(p, d) {
			parent, off, rivals = p, miss, rivals+1
		}
	}
	return parent, off, rivals
}

// looping is the finding about a loop that few executions could replace. parent
// is the digest of the statement whose rows are looped over, "" if unknown.
func looping(v *cause.View, d cause.Digest, claim string, few float64, parent string, e ...iikanji.Evidence) iikanji.Finding {
	saved := 1 - few/d.Totals.Count
	trips := d.Totals.Count * saved * cause.RoundTrip
	if r, ok := series(v, d); ok {
		e = append(e, r)
	}
	args := map[string]string{"digest": d.Query.Digest}
	if d.Route != nil {
		args["route"] = d.Route.Route
	}
	if parent != "" {
		args["parent"] = parent
	}
	return iikanji.Finding{Code: "DB113", Where: d.Place(), Claim: claim, Evidence: d.WithEvidence(e...),
		Gain:     iikanji.Range{Lo: cause.Round(0.3*d.Left()*saved + trips/2), Hi: cause.Round(d.Left()*saved + trips)},
		Remedies: v.Patch("fetch all of them at once with IN (…) or a join", args)}
}

// series is the evidence of a digest's series on one connection.
func series(v *cause.View, d cause.Digest) (iikanji.Evidence, bool) {
	r := v.Repeat(d)
	return iikanji.Evidence{Source: "threads", Text: fmt.Sprintf("%s series on one connection, the longest of %d; %s executions beyond the first of each, %s with the values just used",
		cause.Number(float64(r.Runs)), r.Longest, cause.Number(float64(r.Count)), cause.Number(float64(r.Same)))}, r.Runs > 0
}

// perRoute finds an N+1 whose parent is unknown and whose route is known, also
// where other routes send the statement too.
func perRoute(v *cause.View, _ int, d cause.Digest) (iikanji.Finding, bool) {
	i := slices.IndexFunc(d.Senders, inLoop)
	if i < 0 {
		return iikanji.Finding{}, false
	}
	f := d.Senders[i]
	d.Route = &f
	claim := fmt.Sprintf("%s runs %s times in each %s: it is sent in a loop", cause.Cut(d.Query.Fingerprint, 60), times(f.Each), f.Route)
	few := d.Totals.Count * (1 - f.Share*(1-1/f.Each))
	return looping(v, d, claim, few, ""), v.Considerable(looped(d, few))
}

// loop finds an N+1 whose parent and route are unknown.
func loop(v *cause.View, _ int, d cause.Digest) (iikanji.Finding, bool) {
	requests, r := v.Requests(), v.Repeat(d)
	if requests == 0 || len(d.Senders) > 0 { // its routes send it too rarely for a loop
		return iikanji.Finding{}, false
	}
	if d.Totals.Count >= manyRequests*requests && float64(r.Count) >= d.Totals.Count/2 {
		claim := fmt.Sprintf("%s runs %.1f times for each request of the run, in series: it is sent in a loop", cause.Cut(d.Query.Fingerprint, 60), d.Totals.Count/requests)
		return looping(v, d, claim, requests, "", requestEvidence(v)), v.Considerable(looped(d, requests))
	}
	surplus := surplus(v, d)
	if r.Longest < longSeries || float64(r.Same) > seriesSame*float64(r.Count) || surplus < leastSurplus {
		return iikanji.Finding{}, false
	}
	claim := fmt.Sprintf("%s runs up to %s times in a row on one connection, with new values each time: it is sent in a loop", cause.Cut(d.Query.Fingerprint, 60), cause.Number(float64(r.Longest)))
	few := d.Totals.Count - float64(r.Count)
	return looping(v, d, claim, few, "", iikanji.Evidence{Source: "per second", Text: fmt.Sprintf(
		"in the seconds in which it ran most, %.0f %% of its executions exceed one for each request of any route", 100*surplus)}), v.Considerable(looped(d, few))
}

// surplus is the share of a digest's executions beyond one for each request that
// ended in the same or the next second. Without a loop there are nearly none.
func surplus(v *cause.View, d cause.Digest) float64 {
	if d.PerSecond == nil {
		return 0
	}
	n := len(d.PerSecond.Counts)
	ended := make([]float64, n+1)
	for _, r := range v.Input.Rows(iikanji.Access) {
		if r.PerSecond == nil {
			continue
		}
		for i, c := range cause.Spread(r.PerSecond, d.PerSecond.From, n+1) {
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
func requestEvidence(v *cause.View) iikanji.Evidence {
	return iikanji.Evidence{Source: "requests", Text: cause.Number(v.Requests()) + " requests in the run"}
}

func refetch(v *cause.View, _ int, d cause.Digest) (iikanji.Finding, bool) {
	blk, requests := d.Block(), v.Requests()
	t := blk.Refs[0].Table
	if t == nil || len(blk.Refs) != 1 || requests == 0 || d.Totals.Count < manyPerRequest*requests || !whole(blk) {
		return iikanji.Finding{}, false
	}
	if d.Totals.Count < refetchEach*t.Rows() && float64(v.Repeat(d).Same) < d.Totals.Count/2 {
		return iikanji.Finding{}, false
	}
	all := d.Left() + d.Totals.Count*cause.RoundTrip
	f := iikanji.Finding{Code: "DB114", Where: d.Place(),
		Claim: fmt.Sprintf("%s, %s in all, is fetched %s times, %.1f times per request", t.Name, cause.Plural(t.Rows(), "row"), cause.Number(d.Totals.Count), d.Totals.Count/requests),
		Evidence: d.WithEvidence(requestEvidence(v),
			iikanji.Evidence{Source: "schema", Text: fmt.Sprintf("%s has %s", t.FullName(), cause.Plural(t.Rows(), "row"))}),
		Gain:     cause.Between(all, 0.2, 0.95),
		Remedies: v.Patch("fetch it once per request, or keep it in the app's memory and refresh it where it is written", map[string]string{"digest": d.Query.Digest, "table": t.Name}),
	}
	if r, ok := series(v, d); ok {
		f.Evidence = append(f.Evidence, r)
	}
	return f, v.Considerable(d.Totals.Count * index.CostStatement)
}

// looped is the work that is saved when few executions fetch what all of them
// did: most of the round trips, and part of the reading.
func looped(d cause.Digest, few float64) float64 {
	return (1 - few/d.Totals.Count) * (d.Totals.Count*index.CostStatement + 0.3*d.Totals.Examined)
}

// whole reports whether a block fixes all columns of a unique key.
func whole(blk *index.Block) bool {
	t := blk.Refs[0].Table
	m := map[string]index.Limits{}
	for _, p := range blk.Predicates {
		if p.Kind == index.PredEq {
			m[p.Col] = index.Limits{Eq: true}
		}
	}
	for _, ix := range t.Existing() {
		if ix.Unique && ix.Whole(m) {
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
	return cause.Number(n)
}
