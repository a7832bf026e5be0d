package isuumo

import (
	"iter"
	"slices"
)

// estates are the estates.
type estates struct {
	rows
	all    []Estate // by position
	byRent []int32  // positions in the order of the low-priced list

	rent, doorHeight, doorWidth []bitset // by range
	feature                     map[string]bitset

	shorter, longer []int64 // sides of the door
	points          []point // as the app tests them, see rounded
}

func newEstates(d *Dataset, c *EstateConditions) *estates {
	all := slices.Concat(slices.Concat(d.Estates, d.VerifyEstates), slices.Concat(d.DraftEstates...))
	slices.SortFunc(all, func(a, b Estate) int { return byPopularity(a.Popularity, b.Popularity, a.ID, b.ID) })
	n := len(all)
	t := &estates{rows: newRows(idsOf(all, estateID)), all: all}
	t.byRent = ordered(n, func(a, b int32) int { return byValue(all[a].Rent, all[b].Rent, all[a].ID, all[b].ID) })
	t.rent = rangeSets(n, c.Rent, func(pos int32) int64 { return all[pos].Rent })
	t.doorHeight = rangeSets(n, c.DoorHeight, func(pos int32) int64 { return all[pos].DoorHeight })
	t.doorWidth = rangeSets(n, c.DoorWidth, func(pos int32) int64 { return all[pos].DoorWidth })
	t.feature = featureSets(n, c.Feature, func(pos int32) string { return all[pos].Features })
	for i := range all {
		e := &all[i]
		t.shorter = append(t.shorter, min(e.DoorHeight, e.DoorWidth))
		t.longer = append(t.longer, max(e.DoorHeight, e.DoorWidth))
		t.points = append(t.points, point{rounded(e.Latitude), rounded(e.Longitude)})
	}
	t.lay(idsOf(d.Estates, estateID))
	return t
}

// A passage is the smallest door that a chair fits through: the two smaller ones
// of its dimensions.
type passage struct{ shorter, longer int64 }

func passageOf(c *Chair) passage {
	sides := []int64{c.Height, c.Width, c.Depth}
	slices.Sort(sides)
	return passage{sides[0], sides[1]}
}

// fits reports whether the door of an estate is large enough.
func (t *estates) fits(pos int32, p passage) bool {
	return t.shorter[pos] >= p.shorter && t.longer[pos] >= p.longer
}

// which yields the rows in the order of searches that may be in the target and
// for which is is true.
func (t *estates) which(is func(pos int32) bool) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for pos := range int32(len(t.all)) {
			if t.there.has(pos) && is(pos) && !yield(pos) {
				return
			}
		}
	}
}
