package diagnose

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// names are some indexes that a server has, by table.
type names map[*table]map[string]bool

func (n names) has(t *table, name string) bool { return n[t][name] }

func (n names) add(t *table, name string) {
	if n[t] == nil {
		n[t] = map[string]bool{}
	}
	n[t][name] = true
}

// without takes indexes out; imagined ones stay.
func (av avail) without(gone names) avail {
	out := avail{}
	for t, all := range av {
		out[t] = slices.DeleteFunc(slices.Clone(all), func(ix *index) bool { return !ix.new && gone.has(t, ix.Name) })
	}
	return out
}

// replaces finds the index that a new one makes needless: its own prefix, or
// one that starts alike and goes on with a column that no query asks for. What
// one proposal replaces no other one does.
func (a *adviser) replaces(t *table, ix *index, p *Proposal) {
	for i := range t.Indexes {
		have := t.Indexes[i]
		if have.Unique || ix.Kind != "btree" || !a.movable(t, have) {
			continue
		}
		n := sameColumns(have, ix.Index)
		switch {
		case n == len(have.Parts) && a.spareBeside(t, have.Name, ix):
			p.Replaces, p.Wrong = &have, false
		case n > 0 && n < len(ix.Parts) && p.Replaces == nil && !a.asked(t, have.Parts[n].Column) && !a.linked(t, have) && a.spareBeside(t, have.Name, ix):
			p.Replaces, p.Wrong = &have, true
		}
		if p.Replaces != nil && !p.Wrong {
			break
		}
	}
	if p.Replaces != nil {
		a.replaced.add(t, p.Replaces.Name)
	}
}

// opaque says whether an index has an expression for a part. Which statements
// it serves, and what it would take to do the same, is not known.
func opaque(ix iikanji.Index) bool {
	return slices.ContainsFunc(ix.Parts, func(p iikanji.IndexPart) bool { return p.Column == "" })
}

// hinted says whether a statement names an index: it would fail without it.
// A statement that could not be read names every word in it.
func (a *adviser) hinted(t *table, name string) bool {
	for _, q := range a.hints {
		if q.table == t && strings.EqualFold(q.name, name) {
			return true
		}
	}
	return a.mentioned(name)
}

// mentioned says whether a word stands in a statement that could not be read,
// or in an optimizer's comment.
func (a *adviser) mentioned(name string) bool {
	stands := func(text string) bool {
		for i := range text {
			if wordAt(text, i, name) > 0 {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(a.out.Unread, func(u Unread) bool { return stands(u.Query.SQL) }) || slices.ContainsFunc(a.orders, stands)
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

// asked says whether any query restricts, orders or groups by a column. One
// that could not be read does so if it names it.
func (a *adviser) asked(t *table, col string) bool {
	if a.mentioned(col) {
		return true
	}
	for _, q := range a.queries {
		for _, blk := range q.st.blocks {
			if blk.asks(t, strings.ToLower(col)) {
				return true
			}
		}
	}
	return false
}

// spareBeside says whether an index can go when a new one comes: with it alone,
// and with all that are new when all go that others replace.
func (a *adviser) spareBeside(t *table, name string, ix *index) bool {
	alone, all := names{}, a.replaced.and(t, name)
	alone.add(t, name)
	return a.bearable(t, []*index{ix}, alone) && a.bearable(t, a.set, all)
}

// spare says whether an index can go beside those that are dropped already:
// as things are, and once the new ones are there and what they replace is not.
func (a *adviser) spare(t *table, name string) bool {
	return a.bearable(t, nil, a.dropped.and(t, name)) && a.bearable(t, a.set, a.dropped.and(t, name).join(a.replaced))
}

// and is a copy with one more.
func (n names) and(t *table, name string) names {
	out := names{}.join(n)
	out.add(t, name)
	return out
}

// join adds all of another one.
func (n names) join(other names) names {
	for t, all := range other {
		for name := range all {
			n.add(t, name)
		}
	}
	return n
}

// bearable says whether every query of a table costs the same, with some new
// indexes, when others are gone. All that go count together: each of two
// indexes may be spare only because of the other.
func (a *adviser) bearable(t *table, set []*index, gone names) bool {
	full := a.with(set)
	less := full.without(gone)
	for _, q := range a.queries {
		if q.tables[t] && a.s.plan(q.st, less).cost > 1.02*a.s.plan(q.st, full).cost {
			return false
		}
	}
	return true
}

// drops finds redundant and unused indexes among those that no proposal
// replaces. The redundant ones come first, since of two that do the same the
// one that can do more stays, whichever of them this run's plans prefer.
func (a *adviser) drops() {
	for _, t := range a.tables() {
		for _, why := range []func(*table, iikanji.Index) (by string, ok bool){a.twin, a.unused} {
			for _, ix := range t.Indexes {
				if ix.Primary || !a.movable(t, ix) || a.dropped.has(t, ix.Name) {
					continue
				}
				if by, ok := why(t, ix); ok && a.spare(t, ix.Name) {
					a.dropped.add(t, ix.Name)
					a.out.Drop = append(a.out.Drop, Dropped{Table: t.Table, Index: ix, By: by, Writes: a.writesTo(t, ix)})
				}
			}
		}
	}
}

// movable says whether an index may go at all: it is one that plans know, it is
// there for them, nothing new has taken its place yet, and no statement would
// fail without it.
func (a *adviser) movable(t *table, ix iikanji.Index) bool {
	return !ix.Hidden && ix.Kind == "btree" && !opaque(ix) && !a.replaced.has(t, ix.Name) && !a.hinted(t, ix.Name)
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
func (a *adviser) twin(t *table, ix iikanji.Index) (by string, ok bool) {
	for _, other := range t.Indexes {
		if other.Name == ix.Name || other.Hidden || other.Kind != "btree" || opaque(other) || a.replaced.has(t, other.Name) || a.dropped.has(t, other.Name) {
			continue
		}
		same := alike(ix, other) == len(ix.Parts)
		equal := same && len(ix.Parts) == len(other.Parts)
		switch {
		case ix.Unique:
			if equal && other.Unique {
				return other.Name, true
			}
		case same:
			return other.Name, true
		case other.Primary:
		case len(ix.Parts) > len(other.Parts) && alike(other, ix) == len(other.Parts) && tail(t, ix, len(other.Parts)):
			return other.Name, true
		}
	}
	return "", false
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
// reads by, today or with what is new and without what is gone. With statements
// that could not be read, nobody knows; nor with a column that is generated,
// which a statement reads by when it has the column's expression.
func (a *adviser) unused(t *table, ix iikanji.Index) (by string, ok bool) {
	if ix.Unique || !a.readBy(t) || a.spoilt(t, ix) || len(a.out.Unread) > 0 || a.writesTo(t, ix) == 0 || a.linked(t, ix) || generated(t, ix) {
		return "", false
	}
	now := a.with(nil).without(a.dropped)
	then := a.with(a.set).without(names{}.join(a.dropped).join(a.replaced))
	for _, q := range a.queries {
		if !q.tables[t] {
			continue
		}
		for _, u := range slices.Concat(a.s.plan(q.st, now).uses, a.s.plan(q.st, then).uses) {
			if u.table == t && !u.new && u.Name == ix.Name {
				return "", false
			}
		}
	}
	return "", true
}

// generated says whether a part of an index is a generated column.
func generated(t *table, ix iikanji.Index) bool {
	return slices.ContainsFunc(ix.Parts, func(p iikanji.IndexPart) bool {
		c := t.columns[strings.ToLower(p.Column)]
		return c != nil && c.Generated
	})
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
