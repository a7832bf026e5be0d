package index

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// names are some existing indexes, by table.
type names map[*Table]map[string]bool

func (n names) has(t *Table, name string) bool { return n[t][name] }

func (n names) add(t *Table, name string) {
	if n[t] == nil {
		n[t] = map[string]bool{}
	}
	n[t][name] = true
}

// without removes existing indexes; imagined ones stay.
func (av Available) without(gone names) Available {
	out := Available{}
	for t, all := range av {
		out[t] = slices.DeleteFunc(slices.Clone(all), func(ix *Index) bool { return !ix.new && gone.has(t, ix.Name) })
	}
	return out
}

// replaces finds the index that a new one makes unnecessary: a prefix of it, or
// one that starts alike and continues with a column that no query uses. An
// index is replaced by at most one proposal.
func (a *adviser) replaces(t *Table, ix *Index, p *Proposal) {
	for i := range t.Indexes {
		have := t.Indexes[i]
		if have.Unique || ix.Kind != "btree" || !a.movable(t, have) {
			continue
		}
		n := sameColumns(have, ix.Index)
		switch {
		case n == len(have.Parts) && a.unneededBeside(t, have.Name, ix):
			p.Replaces, p.Wrong = &have, false
		case n > 0 && n < len(have.Parts) && n < len(ix.Parts) && p.Replaces == nil && !a.anyNeeds(t, have.Parts[n].Column) && !a.linked(t, have) && a.unneededBeside(t, have.Name, ix):
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

// opaque reports whether an index has an expression as a part. Which statements
// it serves is unknown.
func opaque(ix catalog.Index) bool {
	return slices.ContainsFunc(ix.Parts, func(p catalog.IndexPart) bool { return p.Column == "" })
}

// hinted reports whether a statement names an index and would fail without it.
// A statement that could not be parsed names every word in it.
func (a *adviser) hinted(t *Table, name string) bool {
	for _, q := range a.hints {
		if q.table == t && strings.EqualFold(q.name, name) {
			return true
		}
	}
	return a.mentioned(name)
}

// mentioned reports whether a word occurs in a statement that could not be
// parsed, or in an optimizer comment.
func (a *adviser) mentioned(name string) bool {
	contains := func(text string) bool { // also in strings and comments: the text may be cut off
		for i := range text {
			if end := i + len(name); end <= len(text) && strings.EqualFold(text[i:end], name) && !inWord(text, i-1) && !inWord(text, end) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(a.out.Unread, func(u Unread) bool { return contains(u.Query.SQL) }) || slices.ContainsFunc(a.orders, contains)
}

// inWord reports whether a byte of a text is a part of a word.
func inWord(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// sameColumns counts the leading columns that two indexes have in common,
// ignoring their directions.
func sameColumns(x, y catalog.Index) int {
	n := 0
	for n < len(x.Parts) && n < len(y.Parts) && strings.EqualFold(x.Parts[n].Column, y.Parts[n].Column) && x.Parts[n].Prefix == y.Parts[n].Prefix {
		n++
	}
	return n
}

// alike counts the leading parts that two indexes have in common; the
// directions may be reversed in all parts together.
func alike(x, y catalog.Index) int {
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

// anyNeeds reports whether any query restricts, orders or groups by a column. A
// statement that could not be parsed does so if it contains the column's name.
func (a *adviser) anyNeeds(t *Table, col string) bool {
	if a.mentioned(col) {
		return true
	}
	for _, q := range a.queries {
		for _, blk := range q.st.Blocks {
			if blk.needs(t, strings.ToLower(col)) {
				return true
			}
		}
	}
	return false
}

// unneededBeside reports whether an index is unnecessary when a new one is added:
// with the new one alone, and with all new ones when all replaced ones are
// dropped.
func (a *adviser) unneededBeside(t *Table, name string, ix *Index) bool {
	alone, all := names{}, a.replaced.and(t, name)
	alone.add(t, name)
	return a.bearable(t, []*Index{ix}, alone) && a.bearable(t, a.set, all)
}

// unneeded reports whether an index is unnecessary besides those that are dropped
// already: with the existing indexes, and with the new ones in place of those
// that they replace.
func (a *adviser) unneeded(t *Table, name string) bool {
	return a.bearable(t, nil, a.dropped.and(t, name)) && a.bearable(t, a.set, a.dropped.and(t, name).join(a.replaced))
}

// and is a copy with one more.
func (n names) and(t *Table, name string) names {
	out := names{}.join(n)
	out.add(t, name)
	return out
}

// join adds all indexes of another set.
func (n names) join(other names) names {
	for t, all := range other {
		for name := range all {
			n.add(t, name)
		}
	}
	return n
}

// bearable reports whether every query of a table costs the same with some new
// indexes and without some old ones. All dropped indexes are considered
// together: each of two indexes may be unnecessary only because of the other.
func (a *adviser) bearable(t *Table, set []*Index, gone names) bool {
	full := a.with(set)
	less := full.without(gone)
	for _, q := range a.queries {
		if q.tables[t] && a.s.AccessPlan(q.st, less).cost > 1.02*a.s.AccessPlan(q.st, full).cost {
			return false
		}
	}
	return true
}

// drops finds redundant and unused indexes among those that no proposal
// replaces. Redundant ones come first: of two with the same effect, the one
// that can do more stays, whichever of them the plans of this run use.
func (a *adviser) drops() {
	for _, t := range a.tables() {
		for _, test := range []func(*Table, catalog.Index) (by string, ok bool){a.twin, a.unused} {
			for _, ix := range t.Indexes {
				if ix.Primary || !a.movable(t, ix) || a.dropped.has(t, ix.Name) {
					continue
				}
				if by, ok := test(t, ix); ok && a.unneeded(t, ix.Name) {
					a.dropped.add(t, ix.Name)
					a.out.Drop = append(a.out.Drop, Dropped{Table: t.Table, Index: ix, By: by, Writes: a.writesTo(t, ix)})
				}
			}
		}
	}
}

// movable reports whether an index may be dropped: its plans are known and it
// is visible, no proposal replaces it, and no statement would fail without it.
func (a *adviser) movable(t *Table, ix catalog.Index) bool {
	return !ix.Hidden && ix.Kind == "btree" && !opaque(ix) && !a.replaced.has(t, ix.Name) && !a.hinted(t, ix.Name)
}

// tables are the tables ordered by name.
func (a *adviser) tables() []*Table {
	var out []*Table
	for _, t := range a.s.Tables {
		out = append(out, t)
	}
	slices.SortFunc(out, func(x, y *Table) int { return strings.Compare(x.FullName(), y.FullName()) })
	return out
}

func (a *adviser) writesTo(t *Table, ix catalog.Index) float64 {
	n := a.writes[t]
	for _, p := range ix.Parts {
		n += a.updates[t][strings.ToLower(p.Column)]
	}
	return n
}

// twin is the name of an index that does all that ix does: it has the same
// leading parts. A unique index is also a constraint: only an index with the
// same constraint is its twin.
func (a *adviser) twin(t *Table, ix catalog.Index) (by string, ok bool) {
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

// tail reports whether the parts of an index from n on are those that InnoDB
// appends to every secondary index.
func tail(t *Table, ix catalog.Index, n int) bool {
	for i, p := range ix.Parts[n:] {
		if i >= len(t.primary) || !strings.EqualFold(p.Column, t.primary[i]) || p.Desc || p.Prefix > 0 {
			return false
		}
	}
	return true
}

// unused reports whether an index is written and no statement of the run reads
// by it, with the existing indexes or with the new set. The result is false if
// it cannot be known: with statements that could not be parsed, or with a
// generated column, which a statement may use through the column's expression.
func (a *adviser) unused(t *Table, ix catalog.Index) (by string, ok bool) {
	if ix.Unique || !a.readBy(t) || a.spoilt(t, ix) || len(a.out.Unread) > 0 || a.writesTo(t, ix) == 0 || a.linked(t, ix) || generated(t, ix) {
		return "", false
	}
	now := a.with(nil).without(a.dropped)
	then := a.with(a.set).without(names{}.join(a.dropped).join(a.replaced))
	for _, q := range a.queries {
		if !q.tables[t] {
			continue
		}
		for _, u := range slices.Concat(a.s.AccessPlan(q.st, now).uses, a.s.AccessPlan(q.st, then).uses) {
			if u.table == t && !u.new && u.Name == ix.Name {
				return "", false
			}
		}
	}
	return "", true
}

// generated reports whether a part of an index is a generated column.
func generated(t *Table, ix catalog.Index) bool {
	return slices.ContainsFunc(ix.Parts, func(p catalog.IndexPart) bool {
		c := t.ByName[strings.ToLower(p.Column)]
		return c != nil && c.Generated
	})
}

// spoilt reports whether a query would read by the index if its predicate were
// written differently.
func (a *adviser) spoilt(t *Table, ix catalog.Index) bool {
	return slices.ContainsFunc(a.out.Marks, func(m Marked) bool {
		return m.Table == t.FullName() && len(ix.Parts) > 0 && strings.EqualFold(m.Col, ix.Parts[0].Column)
	})
}

// readBy reports whether any statement of the run reads a table.
func (a *adviser) readBy(t *Table) bool {
	for _, q := range a.queries {
		for _, blk := range q.st.Blocks {
			if slices.ContainsFunc(blk.Refs, func(r Ref) bool { return r.Table == t }) {
				return true
			}
		}
	}
	return false
}

// linked reports whether a foreign key needs the index, on either side.
func (a *adviser) linked(t *Table, ix catalog.Index) bool {
	starts := func(cols []string) bool {
		return len(cols) > 0 && len(ix.Parts) > 0 && slices.ContainsFunc(cols, func(c string) bool { return strings.EqualFold(c, ix.Parts[0].Column) })
	}
	for _, l := range t.Links {
		if starts(l.Columns) {
			return true
		}
	}
	for _, other := range a.s.Tables {
		for _, l := range other.Links {
			if (strings.EqualFold(l.Table, t.Name) || strings.EqualFold(l.Table, t.FullName())) && starts(l.Reference) {
				return true
			}
		}
	}
	return false
}
