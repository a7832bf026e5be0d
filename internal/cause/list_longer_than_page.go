package cause

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	// surplusRows is the least mean number of rows of a list, and surplusTimes how many
	// times as many rows are sent as an answer can hold.
	surplusRows  = 20.0
	surplusTimes = 1.5
)

var listLongerThanPage = Declare(PerDatabase, findListLongerThanPage,
	Cause{Code: "DB136", Title: "more rows than the answer holds", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "a list is read whole, and its texts are longer than the page",
		Remedies: []Way{Patch}})

// findListLongerThanPage reports lists that an answer can only show in part: the texts of the rows
// that are sent are longer than the answers of every route that sends the statement.
func findListLongerThanPage(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for i, d := range v.digests {
		blk := d.block()
		if blk == nil || blk.limited || blk.aggregates || blk.distinct || len(blk.group) > 0 || d.q.Count < 2 || len(blk.refs) == 0 {
			continue
		}
		each, text := d.q.Sent/d.q.Count, blk.textOfRow()
		most, route := v.largestAnswer(d)
		if text == 0 || most == 0 || each < surplusRows || each*text < surplusTimes*most {
			continue
		}
		held := most / text
		share := 1 - held/each
		f := iikanji.Finding{Code: "DB136", Where: d.place(),
			Claim: fmt.Sprintf("%s rows of %s are sent each time, with %s of text; an answer of %s has %s, so that it can show %s of them at most",
				people(each), fromTable(blk), iikanji.Bytes(each*text), route, iikanji.Bytes(most), people(held)),
			Evidence: d.withEvidence(), Gain: between((d.left()+v.loopOver(i))*share, 0.5, 1),
			Remedies: v.patch("read as many rows as are shown (LIMIT, with an index in the order of the list), and count the others if their number is shown", map[string]string{"digest": d.Query.Digest})}
		if v.worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// textOfRow is the mean length of the long texts of a row that a block reads, in
// bytes; 0 when unknown. Blobs do not count: they are in no page.
func (blk *block) textOfRow() float64 {
	sum := 0.0
	for i, r := range blk.refs {
		if r.table == nil {
			continue
		}
		for name, c := range r.table.columns {
			if c.Long() && strings.Contains(strings.ToLower(c.Type), "text") && (blk.all[i] || blk.used[i][name]) {
				sum += r.table.length(c.Name)
			}
		}
	}
	return sum
}

// largestAnswer is the largest mean size of the answers of the routes that send a
// digest, in bytes, and this route; 0 when no route is known, or one of them answers
// compressed, so that its size is unknown.
func (v *view) largestAnswer(d digest) (most float64, route string) {
	for _, r := range v.routesSending(d) {
		a, asked := v.answered(r.Key)
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
func (v *view) loopOver(at int) float64 {
	sum, p := 0.0, v.digests[at]
	for i, d := range v.digests {
		if _, fits := v.fits(p, d); i != at && fits && v.lookup(d) {
			sum += d.left() + d.q.Count*roundTrip
		}
	}
	return sum
}
