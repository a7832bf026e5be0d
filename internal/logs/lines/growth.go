package lines

import "slices"

// A Growth is how long a log was at known times. It finds when a record was
// written, also in a log whose timestamps are whole seconds.
type Growth struct{ points []growthPoint }

// A growthPoint is one look at a log: its size is that of some moment between
// asked and seen, in nanoseconds since 1970.
type growthPoint struct{ size, asked, seen int64 }

// Note adds a look at the log. Looks come in the order of time. A log that became
// shorter was replaced: what was noted before is forgotten.
func (g *Growth) Note(size, asked, seen int64) {
	n := len(g.points)
	if n > 0 && size < g.points[n-1].size {
		n = 0
	}
	if n > 1 && g.points[n-1].size == size && g.points[n-2].size == size {
		n-- // of several looks at the same size, the first and the last suffice
	}
	g.points = append(g.points[:n], growthPoint{size, asked, seen})
}

// Written returns the times between which the record that begins at an offset
// was written; 0 for a time that is not known.
func (g *Growth) Written(offset int64) (from, to int64) {
	i, _ := slices.BinarySearchFunc(g.points, offset, func(p growthPoint, at int64) int {
		if p.size <= at {
			return -1
		}
		return 1
	})
	if i > 0 {
		from = g.points[i-1].asked
	}
	if i < len(g.points) {
		to = g.points[i].seen
	}
	return from, to
}

// Points are the looks, as size and the times before and after it, for keeping
// them in a file. GrowthOf reads them.
func (g *Growth) Points() [][3]int64 {
	out := make([][3]int64, len(g.points))
	for i, p := range g.points {
		out[i] = [3]int64{p.size, p.asked, p.seen}
	}
	return out
}

// GrowthOf makes a Growth of the looks that Points returned.
func GrowthOf(points [][3]int64) *Growth {
	g := &Growth{}
	for _, p := range points {
		g.Note(p[0], p[1], p[2])
	}
	return g
}
