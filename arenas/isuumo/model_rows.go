package isuumo

import (
	"cmp"
	"slices"
	"strings"
)

// rows are the rows of one table by position. Positions are in the order of
// searches: popularity from high to low, then id. All rows that the benchmarker
// will post have a position from the beginning.
type rows struct {
	ids   []int64
	at    map[int64]int32 // position by id
	there liveSet         // rows that an answer may hold
	// sure are the rows that an answer must hold: initial rows that are not sold
	// out. The rules let posted rows appear late in lists.
	sure liveSet
}

func newRows(ids []int64) rows {
	r := rows{ids: ids, at: make(map[int64]int32, len(ids)), there: newLiveSet(len(ids)), sure: newLiveSet(len(ids))}
	for pos, id := range ids {
		r.at[id] = int32(pos)
	}
	return r
}

// find returns the position of a row that may be in the target.
func (r *rows) find(id int64) (pos int32, ok bool) {
	pos, ok = r.at[id]
	return pos, ok && r.there.has(pos)
}

// lay enters the initial rows.
func (r *rows) lay(ids []int64) {
	for _, id := range ids {
		r.there.add(r.at[id])
		r.sure.add(r.at[id])
	}
}

// match returns the rows that may be in the target and are in all sets.
func (r *rows) match(sets []bitset) bitset {
	m := r.there.copy()
	for _, s := range sets {
		m.and(s)
	}
	return m
}

// within counts the rows of a set that the target must list, and those that it
// may list.
func (r *rows) within(set bitset) (least, most int) {
	return r.sure.copy().and(set).count(), set.count()
}

// byPopularity orders rows as searches do.
func byPopularity(popularityA, popularityB, idA, idB int64) int {
	return cmp.Or(cmp.Compare(popularityB, popularityA), cmp.Compare(idA, idB))
}

// byValue orders rows as low-priced lists do.
func byValue(a, b, idA, idB int64) int { return cmp.Or(cmp.Compare(a, b), cmp.Compare(idA, idB)) }

// rangeSets returns the rows of each range of a condition.
func rangeSets(n int, c RangeCondition, value func(pos int32) int64) []bitset {
	sets := make([]bitset, len(c.Ranges))
	for i, r := range c.Ranges {
		sets[i] = setOf(n, func(pos int32) bool { return r.Has(value(pos)) })
	}
	return sets
}

// labelSets returns the rows of each label of a condition. Each row has one value.
func labelSets(n int, c ListCondition, value func(pos int32) string) map[string]bitset {
	sets := emptySets(n, c)
	for pos := range int32(n) {
		if s, ok := sets[value(pos)]; ok {
			s.add(pos)
		}
	}
	return sets
}

// featureSets returns the rows of each label of a condition. The features of a row are
// joined by commas, and no label has one, so that a label is found in one of them. Which
// labels are found in a feature is looked up once.
func featureSets(n int, c ListCondition, features func(pos int32) string) map[string]bitset {
	sets := emptySets(n, c)
	found := map[string][]bitset{}
	for pos := range int32(n) {
		for feature := range strings.SplitSeq(features(pos), ",") {
			in, known := found[feature]
			if !known {
				for _, label := range c.List {
					if hasFeature(feature, label) {
						in = append(in, sets[label])
					}
				}
				found[feature] = in
			}
			for _, s := range in {
				s.add(pos)
			}
		}
	}
	return sets
}

// emptySets returns a set without rows for each label.
func emptySets(n int, c ListCondition) map[string]bitset {
	sets := make(map[string]bitset, len(c.List))
	for _, label := range c.List {
		sets[label] = newBitset(n)
	}
	return sets
}

// hasFeature reports whether a row has a feature. The app searches the label as a
// substring of the whole list, so that one label can be found inside another.
func hasFeature(features, label string) bool { return strings.Contains(features, label) }

// ordered returns all positions in another order than that of searches.
func ordered(n int, compare func(a, b int32) int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	slices.SortFunc(list, compare)
	return list
}
