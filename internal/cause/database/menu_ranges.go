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
	digests []cause.Digest
	ends    map[string]map[string]int // by column: conditions, and how often each was seen
	seconds float64                   // that no index of DB101 saves
}

var rangesOfMenu = cause.Declare(cause.PerDatabase, findMenuRanges,
	cause.Cause{Code: "DB127", Title: "ranges of a menu", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "a search by ranges from a fixed set is sorted by another column",
		Remedies: []cause.Way{cause.Plan("ddl", "add column", iikanji.RoleDatabase), cause.Patch}})

// findMenuRanges reports tables that are searched by ranges from a fixed set, and sorted by
// another column. An index gives either the range or the order. A column with the
// number of the range, compared by equality, lets one index give both.
func findMenuRanges(v *cause.View) []iikanji.Finding {
	tables := map[string]*menuSearch{}
	for _, d := range v.Digests {
		blk := d.Block()
		ranges := menuRanges(blk)
		if len(ranges) == 0 {
			continue
		}
		name := blk.Refs[0].Table.Name
		m := tables[name]
		if m == nil {
			m = &menuSearch{ends: map[string]map[string]int{}}
			tables[name] = m
		}
		m.digests, m.seconds = append(m.digests, d), m.seconds+d.Left()
		for _, p := range ranges {
			if m.ends[p.Col] == nil {
				m.ends[p.Col] = map[string]int{}
			}
			m.ends[p.Col][p.Text]++
		}
	}
	var out []iikanji.Finding
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if f, ok := menuFinding(v, name, tables[name]); ok {
			out = append(out, f)
		}
	}
	return out
}

// menuRanges are the ranges of whole numbers in a search of one table that is sorted by
// other columns and cut to a page, or counted; nil for other statements.
func menuRanges(blk *index.Block) (out []index.Predicate) {
	if blk == nil || len(blk.Refs) != 1 || blk.Refs[0].Table == nil || blk.BadOrder != "" || len(blk.Group) > 0 || !(blk.Limited && len(blk.Order) > 0 || blk.CountAll) {
		return nil
	}
	for _, p := range blk.Predicates {
		c := blk.Column(p.ColumnAt)
		sorted := slices.ContainsFunc(blk.Order, func(o index.OrderItem) bool { return o.Col == p.Col })
		if p.Kind == index.PredRange && p.Text != "" && c != nil && strings.Contains(c.Type, "int") && !sorted {
			out = append(out, p)
		}
	}
	return out
}

// menuFinding is the finding of a table whose ranges come from a fixed set: some ends
// were seen in several statements, and a column has few different ones. A column that
// has the same condition everywhere (stock > 0) is not a choice of a user.
func menuFinding(v *cause.View, table string, m *menuSearch) (iikanji.Finding, bool) {
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
	f := iikanji.Finding{Code: "DB127", Where: table, Gain: cause.Between(m.seconds, 0.1, 0.7)}
	if len(m.digests) < index.LeastForms || len(columns) == 0 || !repeated || !v.Worth(f.Gain) {
		return f, false
	}
	slices.SortStableFunc(m.digests, func(a, b cause.Digest) int { return int(1e3 * (b.Left() - a.Left())) })
	f.Claim = fmt.Sprintf("%s is searched by ranges of %s in %s, in another order: an index gives the range or the order, and not both",
		table, strings.Join(columns, ", "), cause.Plural(float64(len(m.digests)), "form"))
	for _, col := range columns {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "examples", Text: fmt.Sprintf("%s: %s", col, cause.Cut(strings.Join(slices.Sorted(maps.Keys(m.ends[col])), "; "), 160))})
	}
	for _, d := range m.digests[:min(len(m.digests), 3)] {
		f.Evidence = append(f.Evidence, d.Evidence())
	}
	f.Remedies = v.Patch("store the number of each range in a generated column (INVISIBLE where statements read all columns), compare it by equality, and index it with the columns of the order",
		map[string]string{"table": table, "columns": strings.Join(columns, ", ")})
	return f, true
}
