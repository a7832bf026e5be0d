package isuumo

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// A point is a place in degrees.
type point struct{ lat, lon float64 }

// rounded returns a coordinate as the app tests it: with six decimals.
func rounded(degrees float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(degrees, 'f', 6, 64), 64) // the text of a number
	return v
}

// A polygon is a closed line: its last point is its first.
type polygon []point

// box returns the south-west and the north-east corner of the bounding box.
func (p polygon) box() (least, most point) {
	least, most = p[0], p[0]
	for _, v := range p[1:] {
		least = point{min(least.lat, v.lat), min(least.lon, v.lon)}
		most = point{max(most.lat, v.lat), max(most.lon, v.lon)}
	}
	return least, most
}

// contains reports whether a point is inside: a ray from the point to the north
// crosses the line an odd number of times. Points on the line are not defined;
// polygons with a row near the line are not offered, see safe.
func (p polygon) contains(q point) bool {
	inside := false
	for i := range len(p) - 1 {
		a, b := p[i], p[i+1]
		if (a.lon > q.lon) != (b.lon > q.lon) && q.lat < a.lat+(q.lon-a.lon)/(b.lon-a.lon)*(b.lat-a.lat) {
			inside = !inside
		}
	}
	return inside
}

// edgeMargin is the distance from an edge, in degrees, within which a row makes a
// polygon unsafe. The app rounds coordinates to 1e-6 degrees, and engines differ
// in their treatment of points on an edge.
const edgeMargin = 5e-6

// distance returns the distance of a point from the line, in degrees.
func (p polygon) distance(q point) float64 {
	least := math.Inf(1)
	for i := range len(p) - 1 {
		least = min(least, segmentDistance(p[i], p[i+1], q))
	}
	return least
}

func segmentDistance(a, b, q point) float64 {
	dx, dy := b.lat-a.lat, b.lon-a.lon
	t := 0.0
	if square := dx*dx + dy*dy; square > 0 {
		t = min(max(((q.lat-a.lat)*dx+(q.lon-a.lon)*dy)/square, 0), 1)
	}
	return math.Hypot(a.lat+t*dx-q.lat, a.lon+t*dy-q.lon)
}

// safe reports whether no row, posted or not, is near the edge of a polygon.
func (t *estates) safe(p polygon) bool {
	least, most := p.box()
	for _, q := range t.points {
		if q.lat < least.lat-edgeMargin || q.lat > most.lat+edgeMargin || q.lon < least.lon-edgeMargin || q.lon > most.lon+edgeMargin {
			continue
		}
		if p.distance(q) < edgeMargin {
			return false
		}
	}
	return true
}

// inside returns a test for rows inside a polygon.
func (t *estates) inside(p polygon) func(pos int32) bool {
	least, most := p.box()
	return func(pos int32) bool {
		q := t.points[pos]
		return q.lat >= least.lat && q.lat <= most.lat && q.lon >= least.lon && q.lon <= most.lon && p.contains(q)
	}
}

// Shape of drawn polygons.
const (
	cityShift           = 1.5 // degrees, each way
	leastSide, mostSide = 0.1, 1.0
	leastDots, mostDots = 10, 19
	decimals            = 1e6
)

// draw returns the next polygon of a random stream: the convex hull of random
// points in a box near a city. Unsafe polygons are drawn again.
func (t *estates) draw(rng *rand.Rand) polygon {
	for {
		if p := drawHull(rng); len(p) > 3 && t.safe(p) {
			return p
		}
	}
}

func drawHull(rng *rand.Rand) polygon {
	around := func(middle, half float64) float64 {
		return math.Round((middle+(2*rng.Float64()-1)*half)*decimals) / decimals
	}
	city := cities[rng.IntN(len(cities))]
	middle := point{around(city.latitude, cityShift), around(city.longitude, cityShift)}
	height, width := leastSide+rng.Float64()*(mostSide-leastSide), leastSide+rng.Float64()*(mostSide-leastSide)
	dots := make([]point, leastDots+rng.IntN(mostDots-leastDots+1))
	for i := range dots {
		dots[i] = point{around(middle.lat, height/2), around(middle.lon, width/2)}
	}
	return hull(dots)
}

// hull returns the closed convex hull of points (monotone chain).
func hull(dots []point) polygon {
	slices.SortFunc(dots, func(a, b point) int { return cmp.Or(cmp.Compare(a.lat, b.lat), cmp.Compare(a.lon, b.lon)) })
	turn := func(a, b, c point) float64 { return (b.lat-a.lat)*(c.lon-a.lon) - (b.lon-a.lon)*(c.lat-a.lat) }
	half := func(line polygon, dots []point) polygon {
		first := len(line)
		for _, d := range dots {
			for len(line) >= first+2 && turn(line[len(line)-2], line[len(line)-1], d) <= 0 {
				line = line[:len(line)-1]
			}
			line = append(line, d)
		}
		return line[:len(line)-1] // the last point begins the other half
	}
	line := half(nil, dots)
	slices.Reverse(dots)
	line = half(line, dots)
	return append(line, line[0])
}
