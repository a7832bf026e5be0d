package diagnose

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// replaces finds the index that a new one makes needless: its own prefix, or
// one that starts alike and goes on with a column that no query asks for.
func (a *adviser) replaces(t *table, ix *index, p *Proposal) {
	for i := range t.Indexes {
		have := t.Indexes[i]
		if have.Unique || have.Hidden || have.Kind != "btree" || ix.Kind != "btree" {
			continue
		}
		n := sameColumns(have, ix.Index)
		switch {
		case n == len(have.Parts) && a.spare(t, have.Name):
			p.Replaces = &have
			return
		case n > 0 && n < len(ix.Parts) && !a.asked(t, have.Parts[n].Column) && a.spare(t, have.Name):
			p.Replaces, p.Wrong = &have, true
		}
	}
}

// sameColumns counts the leading columns that two indexes have in common,
// whatever their directions.
func sameColumns(x, y iikanji.Index) int {
	n := 0
	for n < len(x.Parts) && n < len(y.Parts) && strings.EqualFold(x.Parts[n].Column, y.Parts[n].Column) && x.Parts[n].Prefix == y.Parts[n].Prefix {
		n++
	}
	return n
}

// alike counts the leading parts that two indexes have in common; one
// direction is as good as the other as long as all are turned.
func alike(x, y iikanji.Index) int {
	n := 0
	turned := len(x.Parts) > 0 && len(y.Parts) > 0 && x.Parts[0].Desc != y.Parts[0].Desc
	for n < len(x.Parts) && n < len(y.Parts) {
		p, q := x.Parts[n], y.Parts[n]
		if !strings.EqualFold(p.Column, q.Column) || p.Prefix != q.Prefix || (p.Desc != q.Desc) != turned {
			break
		}
		n++
	}
	return n
}

// asked says whether any query restricts, orders or groups by a column.
func (a *adviser) asked(t *table, col string) bool {
	for _, q := range a.queries {
		for _, blk := range q.st.blocks {
			if blk.asks(t, strings.ToLower(col)) {
				return true
			}
		}
	}
	return false
}

// spare says whether every query costs the same without an index, once the
// new ones are there.
func (a *adviser) spare(t *table, name string) bool {
	full := a.with(a.set)
	less := a.with(a.set)
	less[t] = slices.DeleteFunc(slices.Clone(less[t]), func(ix *index) bool { return ix.Name == name && !ix.new })
	for _, q := range a.queries {
		if a.s.plan(q.st, less).cost > 1.02*a.s.plan(q.st, full).cost {
			return false
		}
	}
	return true
}

// drops finds redundant and unused indexes among those that no proposal replaces.
func (a *adviser) drops() {
	for _, t := range a.tables() {
		gone := map[string]bool{}
		for _, p := range a.out.Add {
			if p.Replaces != nil && p.Table.Schema == t.Schema && p.Table.Name == t.Name {
				gone[p.Replaces.Name] = true
			}
		}
		for _, ix := range t.Indexes {
			if ix.Primary || ix.Hidden || ix.Kind != "btree" || gone[ix.Name] {
				continue
			}
			d := Dropped{Table: t.Table, Index: ix, Writes: a.writesTo(t, ix)}
			if d.By = a.twin(t, ix, gone); d.By == "" && !a.unused(t, ix) || !a.spare(t, ix.Name) {
				continue
			}
			gone[ix.Name] = true
			a.out.Drop = append(a.out.Drop, d)
		}
	}
}

// tables are the tables in the order of their names.
func (a *adviser) tables() []*table {
	var out []*table
	for _, t := range a.s.tables {
		out = append(out, t)
	}
	slices.SortFunc(out, func(x, y *table) int { return strings.Compare(x.name(), y.name()) })
	return out
}

func (a *adviser) writesTo(t *table, ix iikanji.Index) float64 {
	n := a.writes[t]
	for _, p := range ix.Parts {
		n += a.updates[t][strings.ToLower(p.Column)]
	}
	return n
}

// twin names an index that does all that ix does: it has the same leading
// parts. A unique index is a promise; only the same promise can stand for it.
func (a *adviser) twin(t *table, ix iikanji.Index, gone map[string]bool) string {
	for _, other := range t.Indexes {
		if other.Name == ix.Name || other.Hidden || other.Kind != "btree" || gone[other.Name] {
			continue
		}
		same := alike(ix, other) == len(ix.Parts)
		equal := same && len(ix.Parts) == len(other.Parts)
		switch {
		case ix.Unique:
			if equal && other.Unique {
				return other.Name
			}
		case same:
			return other.Name
		case other.Primary:
		case len(ix.Parts) > len(other.Parts) && alike(other, ix) == len(other.Parts) && tail(t, ix, len(other.Parts)):
			return other.Name
		}
	}
	return ""
}

// tail says whether the parts of an index from n on are what InnoDB appends
// to every secondary index anyway.
func tail(t *table, ix iikanji.Index, n int) bool {
	for i, p := range ix.Parts[n:] {
		if i >= len(t.primary) || !strings.EqualFold(p.Column, t.primary[i]) || p.Desc || p.Prefix > 0 {
			return false
		}
	}
	return true
}

// unused says whether writes pay for an index that no statement of the run
// reads by. With statements that could not be read, nobody knows.
func (a *adviser) unused(t *table, ix iikanji.Index) bool {
	if ix.Unique || !a.readBy(t) || a.spoilt(t, ix) || len(a.out.Unread) > 0 || a.writesTo(t, ix) == 0 || a.linked(t, ix) {
		return false
	}
	av := a.with(a.set)
	for _, q := range a.queries {
		for _, u := range a.s.plan(q.st, av).uses {
			if u.table == t && !u.new && u.Name == ix.Name {
				return false
			}
		}
	}
	return true
}

// spoilt says whether a query would read by the index if its predicate were
// written otherwise.
func (a *adviser) spoilt(t *table, ix iikanji.Index) bool {
	return slices.ContainsFunc(a.out.Marks, func(m Marked) bool {
		return m.Table == t.name() && len(ix.Parts) > 0 && strings.EqualFold(m.Col, ix.Parts[0].Column)
	})
}

// readBy says whether any statement of the run reads a table.
func (a *adviser) readBy(t *table) bool {
	for _, q := range a.queries {
		for _, blk := range q.st.blocks {
			if slices.ContainsFunc(blk.refs, func(r ref) bool { return r.table == t }) {
				return true
			}
		}
	}
	return false
}

// linked says whether a foreign key needs the index, on either side.
func (a *adviser) linked(t *table, ix iikanji.Index) bool {
	starts := func(cols []string) bool {
		return len(cols) > 0 && len(ix.Parts) > 0 && slices.ContainsFunc(cols, func(c string) bool { return strings.EqualFold(c, ix.Parts[0].Column) })
	}
	for _, l := range t.Links {
		if starts(l.Columns) {
			return true
		}
	}
	for _, other := range a.s.tables {
		for _, l := range other.Links {
			if (strings.EqualFold(l.Table, t.Name) || strings.EqualFold(l.Table, t.name())) && starts(l.Reference) {
				return true
			}
		}
	}
	return false
}
