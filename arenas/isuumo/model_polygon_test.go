package isuumo

import (
	"math/rand/v2"
	"slices"
	"testing"
)

var square = polygon{{0, 0}, {0, 1}, {1, 1}, {1, 0}, {0, 0}}

func TestContains(t *testing.T) {
	for p, want := range map[point]bool{{.5, .5}: true, {.001, .999}: true, {.999, .001}: true, {1.5, .5}: false, {-.5, .5}: false, {.5, 1.5}: false, {.5, -.5}: false} {
		if square.contains(p) != want {
			t.Errorf("%v: %v", p, !want)
		}
	}
	for p, want := range map[point]float64{{.5, .25}: .25, {2, .5}: 1, {4, 5}: 5, {0, 0}: 0} {
		if got := square.distance(p); got != want {
			t.Errorf("%v is %g away, want %g", p, got, want)
		}
	}
}

// TestHull checks that a hull is closed, convex and around all points.
func TestHull(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		dots := make([]point, 10+rng.IntN(10))
		for i := range dots {
			dots[i] = point{rng.Float64(), rng.Float64()}
		}
		p := hull(slices.Clone(dots))
		if p[0] != p[len(p)-1] || len(p) < 4 {
			t.Fatalf("not a polygon: %v", p)
		}
		for _, d := range dots {
			if !p.contains(d) && p.distance(d) > 1e-12 {
				t.Errorf("%v is outside of %v", d, p)
			}
		}
		for _, v := range p {
			if !slices.Contains(dots, v) {
				t.Errorf("%v is not one of the points", v)
			}
		}
	}
}

// TestDraw checks drawn polygons: within the contest's limits, the same for the
// same stream, and never with a row near the line.
func TestDraw(t *testing.T) {
	e := testWorld().estates
	rng, again := rand.New(rand.NewPCG(9, 1)), rand.New(rand.NewPCG(9, 1))
	filled := 0
	for range 300 {
		p := e.draw(rng)
		if !slices.Equal(p, e.draw(again)) {
			t.Fatal("the same stream drew another polygon")
		}
		least, most := p.box()
		if most.lat-least.lat > mostSide+1e-9 || most.lon-least.lon > mostSide+1e-9 {
			t.Errorf("the box %v to %v is too large", least, most)
		}
		for _, v := range p {
			if v.lat != rounded(v.lat) || v.lon != rounded(v.lon) {
				t.Errorf("%v has more than six decimals", v)
			}
		}
		for i, q := range e.points {
			if p.distance(q) < edgeMargin {
				t.Errorf("row %d is on the line", i)
			}
		}
		if slices.ContainsFunc(e.points, p.contains) {
			filled++
		}
	}
	if filled == 0 || filled == 300 {
		t.Errorf("%d of 300 polygons have rows inside", filled)
	}
	near := polygon{{0, 0}, {0, 90}, {90, 180}, {90, 0}, {0, 0}}
	near[0] = e.points[5]
	near[4] = e.points[5]
	if e.safe(near) {
		t.Error("a polygon with a row on its corner is safe")
	}
}
