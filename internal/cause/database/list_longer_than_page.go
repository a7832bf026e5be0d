package database

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

const (
	// surplusRows is the least mean number of rows of a list, and surplusTimes how many
	// times as many rows are sent as an answer can hold.
	surplusRows  = 20.0
	surplusTimes = 1.5
	// leastLooked is the least mean number of rows that are looked up: below it a page may
	// look up its one row.
	leastLooked = 3.0
)

var listLongerThanPage = cause.Declare(cause.PerDatabase, findListLongerThanPage,
	cause.Cause{Code: "DB136", Title: "more rows than the answer holds", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "a list is read whole, and its texts are longer than the page",
		Remedies: []cause.Way{cause.Patch}})

// findListLongerThanPage reports lists that an answer can only show in part: the texts of the rows
// that are sent are longer than the answers of every route that sends the statement.
func findListLongerThanPage(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for i, d := range v.Digests {
		blk := d.Block()
		if blk == nil || blk.Limited || blk.Aggregates || blk.Distinct || len(blk.Group) > 0 || d.Totals.Count < 2 || len(blk.Refs) == 0 {
			continue
		}
		each := d.Totals.Sent / d.Totals.Count
		held, why := listShows(v, i, each)
		if held == 0 || each < surplusRows || each < surplusTimes*held {
			continue
		}
		share := 1 - held/each
		f := iikanji.Finding{Code: "DB136", Where: d.Place(),
			Claim:    fmt.Sprintf("%s rows of %s are sent each time%s", cause.Number(each), fromTable(blk), why),
			Evidence: d.WithEvidence(), Gain: cause.Between((d.Left()+loopOver(v, i))*share, 0.5, 1),
			Remedies: v.Patch("read as many rows as are shown (LIMIT, with an index in the order of the list), and count the others if their number is shown", map[string]string{"digest": d.Query.Digest})}
		if v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// listShows is how many of the rows that a list sends an answer shows, by what is looked up for
// them, else by the size of the answers; 0 if neither tells it. why is the reason.
func listShows(v *cause.View, at int, each float64) (rows float64, why string) {
	d := v.Digests[at]
	if n := lookedUp(v, at); len(d.Block().Order) > 0 && n >= leastLooked && each >= surplusTimes*n {
		return n, fmt.Sprintf(", and what goes with a row is looked up for %s of them", cause.Number(n))
	}
	text := textOfRow(d.Block())
	most, route := largestAnswer(v, d)
	if text == 0 || most == 0 {
		return 0, ""
	}
	return most / text, fmt.Sprintf(", with %s of text; an answer of %s has %s, so that it can show %s of them at most",
		iikanji.Bytes(each*text), route, iikanji.Bytes(most), cause.Number(most/text))
}

// lookedUp is the mean number of rows of a list for which the same requests look something
// up by a column of the list: a loop over the list that stops early. Of a list without an
// order any rows may be left out.
func lookedUp(v *cause.View, at int) (most float64) {
	p := v.Digests[at]
	for i, d := range v.Digests {
		if i != at && v.Lookup(d) && cause.Links(p, d) && sameRoute(v, p, d) {
			most = max(most, d.Totals.Count/p.Totals.Count)
		}
	}
	return most
}

// sameRoute reports whether two statements are sent for one route: by the run, or by the source.
func sameRoute(v *cause.View, p, d cause.Digest) bool {
	if p.Route != nil && d.Route != nil {
		return p.Route.Route == d.Route.Route
	}
	for _, a := range v.RoutesSending(p) {
		for _, b := range v.RoutesSending(d) {
			if a.Key == b.Key {
				return true
			}
		}
	}
	return false
}

// textOfRow is the mean length of the long texts of a row that a block reads, in
// bytes; 0 when unknown. Blobs do not count: they are in no page.
func textOfRow(blk *index.Block) float64 {
	sum := 0.0
	for i, r := range blk.Refs {
		if r.Table == nil {
			continue
		}
		for name, c := range r.Table.ByName {
			if c.Long() && strings.Contains(strings.ToLower(c.Type), "text") && (blk.All[i] || blk.Used[i][name]) {
				sum += r.Table.Length(c.Name)
			}
		}
	}
	return sum
}

// largestAnswer is the largest mean size of the answers of the routes that send a
// digest, in bytes, and this route; 0 when no route is known, or one of them answers
// compressed, so that its size is unknown.
func largestAnswer(v *cause.View, d cause.Digest) (most float64, route string) {
	for _, r := range v.RoutesSending(d) {
		a, asked := v.Answered(r.Key)
		if asked && a.Encoding != "" || r.Web.Status[2] == 0 {
			return 0, ""
		}
		if n := float64(r.Web.Bytes) / float64(r.Web.Status[2]); n > most {
			most, route = n, r.Key
		}
	}
	return most, route
}

// loopOver is the seconds of the look-ups that run once for each row of a digest.
func loopOver(v *cause.View, at int) float64 {
	sum, p := 0.0, v.Digests[at]
	for i, d := range v.Digests {
		if _, fits := v.Fits(p, d); i != at && fits && v.Lookup(d) {
			sum += d.Left() + d.Totals.Count*cause.RoundTrip
		}
	}
	return sum
}
