package database

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

// A paging is the counts of one table that stand beside lists with the same
// conditions: pages of a search with the number of all matches.
type paging struct {
	counts  []cause.Digest
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

var countBesideList = cause.Declare(cause.PerDatabase, findCountBesideList,
	cause.Cause{Code: "DB125", Title: "count beside a list", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "all matches are counted again for each page",
		Remedies: []cause.Way{cause.Patch}})

// findCountBesideList reports counts beside a list with the same conditions, one finding for each
// table: the number of matches is computed again for each page.
func findCountBesideList(v *cause.View) []iikanji.Finding {
	lists := lists(v)
	tables := map[string]*paging{}
	for _, d := range v.Digests {
		blk := d.Block()
		if blk == nil || !pagingCount(v, d, blk, lists) {
			continue
		}
		p := tables[fromTable(blk)]
		if p == nil {
			p = &paging{}
			tables[fromTable(blk)] = p
		}
		p.counts = append(p.counts, d)
		p.count, p.seconds, p.rows = p.count+d.Totals.Count, p.seconds+d.Left(), p.rows+d.Totals.Examined
	}
	var out []iikanji.Finding
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if f := countsOf(v, name, tables[name]); v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// lists are the executions of statements with a LIMIT, by the part that a count of
// their matches must share.
func lists(v *cause.View) map[string]float64 {
	lists := map[string]float64{}
	for _, d := range v.Digests {
		if blk := d.Block(); blk != nil && !blk.CountAll && blk.Limited && blk.Limit != 1 {
			lists[matched(d)] += d.Totals.Count
		}
	}
	return lists
}

// pagingCount reports whether a digest counts what a list of about as many executions
// shows a page of.
func pagingCount(v *cause.View, d cause.Digest, blk *index.Block, lists map[string]float64) bool {
	if !blk.CountAll || len(blk.Group) > 0 || len(blk.Refs) != 1 || blk.Refs[0].Table == nil || whole(blk) {
		return false
	}
	n := lists[matched(d)]
	return matched(d) != "" && n >= leastPaged*d.Totals.Count && n <= mostPaged*d.Totals.Count
}

// matched is the part of a statement that a count and a list share: from FROM to the
// end of its conditions.
func matched(d cause.Digest) string {
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
func countsOf(v *cause.View, table string, p *paging) iikanji.Finding {
	slices.SortStableFunc(p.counts, func(a, b cause.Digest) int { return int(1e3 * (b.Left() - a.Left())) })
	f := iikanji.Finding{Code: "DB125", Where: table, Gain: cause.Between(p.seconds, 0.3, 0.95),
		Claim: fmt.Sprintf("matches of %s are counted %s times beside a list with the same conditions, %s rows each time, in %s",
			table, cause.Number(p.count), cause.Number(p.rows/max(p.count, 1)), cause.Plural(float64(len(p.counts)), "form")),
		Remedies: v.Patch("keep the number of matches for each condition until a row is written, and count again then; or do not show it", map[string]string{"table": table})}
	for _, d := range p.counts[:min(len(p.counts), 3)] {
		f.Evidence = append(f.Evidence, d.Evidence())
	}
	return f
}
