package cause

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A paging is the counts of one table that stand beside lists with the same
// conditions: pages of a search with the number of all matches.
type paging struct {
	counts  []digest
	count   float64 // executions
	seconds float64 // that no index of DB101 saves
	rows    float64 // examined
}

// leastPaged and mostPaged bound how often the list is sent for each count: a search
// whose pages 2 and 3 are counted too has 1.
const (
	leastPaged = 0.5
	mostPaged  = 2
)

var countBesideList = Declare(PerDatabase, findCountBesideList,
	Cause{Code: "DB125", Title: "count beside a list", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "all matches are counted again for each page",
		Remedies: []Way{Patch}})

// findCountBesideList reports counts beside a list with the same conditions, one finding for each
// table: the number of matches is computed again for each page.
func findCountBesideList(v *view) []iikanji.Finding {
	lists := v.lists()
	tables := map[string]*paging{}
	for _, d := range v.digests {
		blk := d.block()
		if blk == nil || !v.pagingCount(d, blk, lists) {
			continue
		}
		p := tables[fromTable(blk)]
		if p == nil {
			p = &paging{}
			tables[fromTable(blk)] = p
		}
		p.counts = append(p.counts, d)
		p.count, p.seconds, p.rows = p.count+d.q.Count, p.seconds+d.left(), p.rows+d.q.Examined
	}
	var out []iikanji.Finding
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if f := v.countsOf(name, tables[name]); v.worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// lists are the executions of statements with a LIMIT, by the part that a count of
// their matches must share.
func (v *view) lists() map[string]float64 {
	lists := map[string]float64{}
	for _, d := range v.digests {
		if blk := d.block(); blk != nil && !blk.countAll && blk.limited && blk.limit != 1 {
			lists[matched(d)] += d.q.Count
		}
	}
	return lists
}

// pagingCount reports whether a digest counts what a list of about as many executions
// shows a page of.
func (v *view) pagingCount(d digest, blk *block, lists map[string]float64) bool {
	if !blk.countAll || len(blk.group) > 0 || len(blk.refs) != 1 || blk.refs[0].table == nil || blk.whole() {
		return false
	}
	n := lists[matched(d)]
	return matched(d) != "" && n >= leastPaged*d.q.Count && n <= mostPaged*d.q.Count
}

// matched is the part of a statement that a count and a list share: from FROM to the
// end of its conditions.
func matched(d digest) string {
	text := strings.ToLower(d.Query.Fingerprint)
	from := strings.Index(text, " from ")
	if from < 0 {
		return ""
	}
	text = text[from:]
	for _, end := range []string{" group by ", " order by ", " limit ", " for update"} {
		if i := strings.Index(text, end); i >= 0 {
			text = text[:i]
		}
	}
	return text
}

// countsOf is the finding of a table.
func (v *view) countsOf(table string, p *paging) iikanji.Finding {
	slices.SortStableFunc(p.counts, func(a, b digest) int { return int(1e3 * (b.left() - a.left())) })
	f := iikanji.Finding{Code: "DB125", Where: table, Gain: between(p.seconds, 0.3, 0.95),
		Claim: fmt.Sprintf("matches of %s are counted %s times beside a list with the same conditions, %s rows each time, in %s",
			table, people(p.count), people(p.rows/max(p.count, 1)), plural(float64(len(p.counts)), "form")),
		Remedies: v.patch("keep the number of matches for each condition until a row is written, and count again then; or do not show it", map[string]string{"table": table})}
	for _, d := range p.counts[:min(len(p.counts), 3)] {
		f.Evidence = append(f.Evidence, d.evidence())
	}
	return f
}
