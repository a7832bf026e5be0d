package cause

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	// leastEnds is the least number of different ends of a menu.
	leastEnds = 3
	// mostEnds is the most different ends of ranges of one column that count as a
	// fixed set, as of a menu.
	mostEnds = 12
)

// A menuSearch is the searches of one table by ranges, in another order than that of
// the ranges.
type menuSearch struct {
	digests []digest
	ends    map[string]map[string]int // by column: conditions, and how often each was seen
	seconds float64                   // that no index of DB101 saves
}

var rangesOfMenu = Declare(PerDatabase, findMenuRanges,
	Cause{Code: "DB127", Title: "ranges of a menu", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "a search by ranges from a fixed set is sorted by another column",
		Remedies: []Way{Plan("ddl", "add column", iikanji.RoleDatabase), Patch}})

// findMenuRanges reports tables that are searched by ranges from a fixed set, and sorted by
// another column. An index gives either the range or the order. A column with the
// number of the range, compared by equality, lets one index give both.
func findMenuRanges(v *view) []iikanji.Finding {
	tables := map[string]*menuSearch{}
	for _, d := range v.digests {
		blk := d.block()
		ranges := menuRanges(blk)
		if len(ranges) == 0 {
			continue
		}
		name := blk.refs[0].table.Name
		m := tables[name]
		if m == nil {
			m = &menuSearch{ends: map[string]map[string]int{}}
			tables[name] = m
		}
		m.digests, m.seconds = append(m.digests, d), m.seconds+d.left()
		for _, p := range ranges {
			if m.ends[p.col] == nil {
				m.ends[p.col] = map[string]int{}
			}
			m.ends[p.col][p.text]++
		}
	}
	var out []iikanji.Finding
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if f, ok := v.menuFinding(name, tables[name]); ok {
			out = append(out, f)
		}
	}
	return out
}

// menuRanges are the ranges of whole numbers in a search of one table that is sorted by
// other columns and cut to a page, or counted; nil for other statements.
func menuRanges(blk *block) (out []pred) {
	if blk == nil || len(blk.refs) != 1 || blk.refs[0].table == nil || blk.badOrder != "" || len(blk.group) > 0 || !(blk.limited && len(blk.order) > 0 || blk.countAll) {
		return nil
	}
	for _, p := range blk.preds {
		c := blk.column(p.colAt)
		sorted := slices.ContainsFunc(blk.order, func(o orderItem) bool { return o.col == p.col })
		if p.kind == predRange && p.text != "" && c != nil && strings.Contains(c.Type, "int") && !sorted {
			out = append(out, p)
		}
	}
	return out
}

// menuFinding is the finding of a table whose ranges come from a fixed set: some ends
// were seen in several statements, and a column has few different ones. A column that
// has the same condition everywhere (stock > 0) is not a choice of a user.
func (v *view) menuFinding(table string, m *menuSearch) (iikanji.Finding, bool) {
	var columns []string
	repeated := false
	for _, col := range slices.Sorted(maps.Keys(m.ends)) {
		if len(m.ends[col]) < leastEnds || len(m.ends[col]) > mostEnds {
			continue // always the same condition, or no fixed set
		}
		columns = append(columns, col)
		for _, n := range m.ends[col] {
			repeated = repeated || n > 1
		}
	}
	f := iikanji.Finding{Code: "DB127", Where: table, Gain: between(m.seconds, 0.1, 0.7)}
	if len(m.digests) < leastForms || len(columns) == 0 || !repeated || !v.worth(f.Gain) {
		return f, false
	}
	slices.SortStableFunc(m.digests, func(a, b digest) int { return int(1e3 * (b.left() - a.left())) })
	f.Claim = fmt.Sprintf("%s is searched by ranges of %s in %s, in another order: an index gives the range or the order, and not both",
		table, strings.Join(columns, ", "), plural(float64(len(m.digests)), "form"))
	for _, col := range columns {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "examples", Text: fmt.Sprintf("%s: %s", col, cut(strings.Join(slices.Sorted(maps.Keys(m.ends[col])), "; "), 160))})
	}
	for _, d := range m.digests[:min(len(m.digests), 3)] {
		f.Evidence = append(f.Evidence, d.evidence())
	}
	f.Remedies = v.patch("store the number of each range in a generated column (INVISIBLE where statements read all columns), compare it by equality, and index it with the columns of the order",
		map[string]string{"table": table, "columns": strings.Join(columns, ", ")})
	return f, true
}
