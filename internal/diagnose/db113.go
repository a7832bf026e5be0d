package diagnose

import (
	"fmt"
	"math"

	"github.com/iikanji/iikanji"
)

const (
	manyPerRow     = 5.0   // executions for one of the parent's
	manyRuns       = 200.0 // executions in a run: fewer prove nothing
	sameWithin     = 0.03  // executions ≈ the parent's rows
	seriesWithin   = 0.10  // … of a look-up that runs in series
	roundTrip      = 60e-6 // seconds between app and server that the log does not see: loopback
	manyRequests   = 1.5   // executions per request of the whole run that make a loop
	manyPerRequest = 1.2   // and that make a refetch
	refetchEach    = 10.0  // times that each row of a table is fetched, on average
)

// db113 reports loops around statements, from counts alone.
//
// N+1 (DB113): a look-up runs as often as another statement sent rows, within
// 3 % (10 % when it mostly runs in series on one connection), and at least five times as often as that one ran: once for each of its
// rows. Two counts can agree by accident, so that the parent has to be the
// only one that fits, or the best by a wide margin; the evidence says which.
//
// Without a parent, a look-up that runs more than once and a half per request
// of the whole run, in series on one connection, is a loop too: series alone
// prove nothing, because requests follow each other on a connection.
//
// Refetch (DB114): a look-up by a whole unique key runs many times more often
// than there are rows to look up, or mostly with values that its connection
// had just used, and more than once per request.
func db113(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for i, d := range v.digests {
		if !v.lookup(d) {
			continue
		}
		for _, try := range []func(int, digest) (iikanji.Finding, bool){v.nPlusOne, v.refetch, v.loop} {
			if f, ok := try(i, d); ok {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

// lookup says whether a digest is a SELECT that finds few rows by equality.
func (v *view) lookup(d digest) bool {
	blk := d.block()
	if blk == nil || d.q.Count < manyRuns || len(blk.refs) != 1 {
		return false
	}
	for _, p := range blk.preds {
		if p.kind == predEq {
			return true
		}
	}
	return false
}

func (v *view) nPlusOne(at int, d digest) (iikanji.Finding, bool) {
	parent, off, rivals := -1, v.tolerance(d), 0
	for i, p := range v.digests {
		if i == at || p.block() == nil || p.q.Count*manyPerRow > d.q.Count || p.q.Sent == 0 {
			continue
		}
		if miss := math.Abs(p.q.Sent-d.q.Count) / d.q.Count; miss <= v.tolerance(d) {
			rivals++
			if miss < off || parent < 0 {
				parent, off = i, miss
			}
		}
	}
	if parent < 0 || rivals > 2 {
		return iikanji.Finding{}, false
	}
	p := v.digests[parent]
	each := d.q.Count / p.q.Count
	sure := "the only statement whose rows fit"
	if rivals > 1 {
		sure = "one other statement fits too"
	}
	trips := (d.q.Count - p.q.Count) * roundTrip
	f := iikanji.Finding{Code: "DB113", Where: d.where(),
		Claim: fmt.Sprintf("%s runs once for each row of another statement: %s× for each of %s executions", cut(d.Query.Fingerprint, 60), people(each), people(p.q.Count)),
		Evidence: []iikanji.Evidence{d.evidence(), {Source: "digest " + p.Query.Digest,
			Text: fmt.Sprintf("%s× %s sent %s rows in all (%.1f %% off; %s)", people(p.q.Count), cut(p.q.SQL, 100), people(p.q.Sent), 100*off, sure)}},
		Gain: iikanji.Range{Lo: round(0.3*d.q.Seconds + trips/2), Hi: round(d.q.Seconds*(1-1/each) + trips)},
		Remedies: []iikanji.Remedy{{Kind: "patch", Target: "app", Says: "fetch all of them at once with IN (…) or a join",
			Args: map[string]string{"digest": d.Query.Digest, "parent": p.Query.Digest}}},
	}
	if r, ok := v.series(d); ok {
		f.Evidence = append(f.Evidence, r)
	}
	return f, v.felt(d.looped(p.q.Count))
}

// tolerance is how far the parent's rows may be from a look-up's executions:
// more when most of these came in series on one connection, which is a second
// sign of a loop, independent of the first.
func (v *view) tolerance(d digest) float64 {
	if float64(v.repeat(d).Count) > d.q.Count/2 {
		return seriesWithin
	}
	return sameWithin
}

// repeat is what the log of threads knows of a digest, or zero.
func (v *view) repeat(d digest) iikanji.Repeat {
	for _, p := range v.in.Profiles {
		for _, r := range p.Repeats {
			if r.Digest == d.Query.Digest {
				return r
			}
		}
	}
	return iikanji.Repeat{}
}

// series tells of a digest's series on one connection.
func (v *view) series(d digest) (iikanji.Evidence, bool) {
	r := v.repeat(d)
	return iikanji.Evidence{Source: "threads", Text: fmt.Sprintf("%s series on one connection, the longest of %d; %s executions beyond the first of each, %s with the values just used",
		people(float64(r.Runs)), r.Longest, people(float64(r.Count)), people(float64(r.Same)))}, r.Runs > 0
}

// loop is an N+1 whose parent is not known.
func (v *view) loop(_ int, d digest) (iikanji.Finding, bool) {
	r, requests := v.repeat(d), v.requests()
	if requests == 0 || d.q.Count < manyRequests*requests || float64(r.Count) < d.q.Count/2 {
		return iikanji.Finding{}, false
	}
	series, _ := v.series(d)
	spare := 1 - requests/d.q.Count
	f := iikanji.Finding{Code: "DB113", Where: d.where(),
		Claim:    fmt.Sprintf("%s runs %.1f times for each request of the run, in series: a loop sends it", cut(d.Query.Fingerprint, 60), d.q.Count/requests),
		Evidence: []iikanji.Evidence{d.evidence(), series, {Source: "requests", Text: people(requests) + " requests in the run"}},
		Gain:     iikanji.Range{Lo: round(0.3 * d.q.Seconds * spare), Hi: round((d.q.Seconds + d.q.Count*roundTrip) * spare)},
		Remedies: []iikanji.Remedy{{Kind: "patch", Target: "app", Says: "fetch all of them at once with IN (…) or a join", Args: map[string]string{"digest": d.Query.Digest}}},
	}
	return f, v.felt(d.looped(requests))
}

func (v *view) refetch(_ int, d digest) (iikanji.Finding, bool) {
	blk, requests := d.block(), v.requests()
	t := blk.refs[0].table
	if t == nil || requests == 0 || d.q.Count < manyPerRequest*requests || !blk.whole() {
		return iikanji.Finding{}, false
	}
	if d.q.Count < refetchEach*t.rows() && float64(v.repeat(d).Same) < d.q.Count/2 {
		return iikanji.Finding{}, false
	}
	trips := d.q.Count * roundTrip
	f := iikanji.Finding{Code: "DB114", Where: d.where(),
		Claim: fmt.Sprintf("%s, %s in all, is fetched %s times, %.1f times in each request", t.Name, plural(t.rows(), "row"), people(d.q.Count), d.q.Count/requests),
		Evidence: []iikanji.Evidence{d.evidence(), {Source: "requests", Text: people(requests) + " requests in the run"},
			{Source: "schema", Text: fmt.Sprintf("%s has %s", t.name(), plural(t.rows(), "row"))}},
		Gain: iikanji.Range{Lo: round((d.q.Seconds + trips) * 0.2), Hi: round((d.q.Seconds + trips) * 0.95)},
		Remedies: []iikanji.Remedy{{Kind: "patch", Target: "app", Says: "fetch it once per request, or keep it in the app's memory and refresh it where it is written",
			Args: map[string]string{"digest": d.Query.Digest, "table": t.Name}}},
	}
	if r, ok := v.series(d); ok {
		f.Evidence = append(f.Evidence, r)
	}
	return f, v.felt(d.q.Count * costStatement)
}

// looped is the work that goes away when a few executions fetch what all of
// them did: most of the round trips, and some of the reading.
func (d digest) looped(few float64) float64 {
	return (1 - few/d.q.Count) * (d.q.Count*costStatement + 0.3*d.q.Examined)
}

// whole says whether a block gives all of a unique key.
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
