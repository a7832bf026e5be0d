package accesslog

import (
	"math"
	"slices"
)

// moments are those of logarithms of times or sizes.
type moments struct {
	n              int64
	sum, sumSquare float64
}

func (m *moments) add(o moments) {
	m.n += o.n
	m.sum += o.sum
	m.sumSquare += o.sumSquare
}

func (m moments) mean() float64 { return m.sum / float64(m.n) }

func (m moments) variance() float64 {
	mean := m.mean()
	return max(m.sumSquare/float64(m.n)-mean*mean, 0)
}

// minTook is the shortest time that is compared: loggers round to a millisecond.
const minTook = 500e3

// timeMoments are those of the natural logarithms of a row's times.
func timeMoments(w *row) moments {
	n, sum, sq := w.times.LogMoments(minTook)
	return moments{n, sum, sq}
}

// sizeMoments are those of the natural logarithms of a row's response sizes.
func sizeMoments(w *row) moments {
	const unit = math.Ln2 / (1 << logSizeBits)
	return moments{w.sized, float64(w.logSize) * unit, float64(w.logSizeSq) * unit * unit}
}

// A measure is a quantity in which routes differ.
type measure func(w *row) moments

// A reference is how much the routes of a log differ in time and in size, as
// the spread of their mean logarithms. 0 if they hardly differ or are few: then
// the likeness of siblings proves nothing.
type reference struct {
	times, sizes float64
	from         [][refererGroups]float64 // the pages from which requests come to each route
	known        vocabulary
}

const (
	minGroup  = 20  // requests of a route that the reference uses
	minGroups = 4   // routes that the reference needs
	minSpread = 1.0 // of the means: a factor of e
)

// referenceOf measures the routes of a tree.
func referenceOf(root *branch) (r reference) {
	var times, sizes []float64
	var from [][refererGroups]float64
	var visit func(b *branch)
	visit = func(b *branch) {
		for _, rows := range b.rows {
			for _, w := range rows.sides {
				if w == nil || w.count < minGroup {
					continue
				}
				if w.from.total() >= minGroup {
					from = append(from, w.from.shares())
				}
				if m := timeMoments(w); m.n >= minGroup {
					times = append(times, m.mean())
				}
				if m := sizeMoments(w); m.n >= minGroup {
					sizes = append(sizes, m.mean())
				}
			}
		}
		for _, c := range b.children {
			visit(c)
		}
	}
	visit(root)
	return reference{spread(times), spread(sizes), from, vocabulary{}}
}

// spread is the distance of the 5th from the 95th percentile of some means.
func spread(means []float64) float64 {
	if len(means) < minGroups {
		return 0
	}
	slices.Sort(means)
	n := len(means) - 1
	if d := means[n-n/20] - means[n/20]; d >= minSpread {
		return d
	}
	return 0
}
