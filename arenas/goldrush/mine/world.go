package mine

import "math/rand"

// A Size is the size of a world and of what a client may hold in it.
type Size struct {
	X, Y, Depth int
	Density     int // cells of all depths for one draw of a treasure
	Licenses    int // that may be active at once
	Test        bool
}

// The contest's two worlds.
var (
	Normal = Size{X: 3500, Y: 3500, Depth: 10, Density: 250, Licenses: 10}
	Small  = Size{X: 5, Y: 5, Depth: 10, Density: 4, Licenses: 3, Test: true}
)

// Treasures is the number of draws. A few draw a place that has a treasure already.
func (s Size) Treasures() int { return s.X * s.Y * s.Depth / s.Density }

// generate draws the treasures of a world, and returns the number of draws that hit a place
// twice. put reports whether the place was free. The order of the draws is part of the world.
func (s Size) generate(r *rand.Rand, put func(x, y, depth int) bool) (twice int) {
	for range s.Treasures() {
		x, y := r.Intn(s.X), r.Intn(s.Y)
		if depth := r.Intn(s.Depth) + 1; !put(x, y, depth) {
			twice++
		}
	}
	return twice
}
