package draw

import (
	"crypto/md5"
	"fmt"
	"math/rand/v2"
	"testing"
)

// colour returns the ink at a place.
func (c *Canvas) colour(x, y int) Ink { return c.pix[y*c.Size+x] }

func TestShapes(t *testing.T) {
	red, blue := RGB(255, 0, 0), RGB(0, 0, 255)
	for name, shape := range map[string]struct {
		draw     func(c *Canvas)
		in, free []Point
	}{
		"rect":    {func(c *Canvas) { c.Rect(10, 10, 20, 20, red) }, []Point{{10, 10}, {19, 19}}, []Point{{9, 10}, {20, 19}, {19, 20}}},
		"outside": {func(c *Canvas) { c.Rect(-5, -5, 500, 3, red) }, []Point{{0, 0}, {63, 2}}, []Point{{0, 3}}},
		"ellipse": {func(c *Canvas) { c.Ellipse(red, At(32, 32), 20, 10) }, []Point{{32, 32}, {51, 32}, {32, 42}}, []Point{{53, 32}, {32, 43}, {50, 41}}},
		"polygon": {func(c *Canvas) { c.Polygon(red, At(10, 10), At(50, 10), At(50, 50)) }, []Point{{40, 20}}, []Point{{15, 40}, {51, 20}}},
		"upright": {func(c *Canvas) { c.Line(red, At(30, 5), At(30, 60), 4) }, []Point{{30, 30}}, []Point{{35, 30}, {30, 61}}},
		"flat":    {func(c *Canvas) { c.Line(red, At(5, 30), At(60, 30), 4) }, []Point{{30, 30}}, []Point{{30, 35}}},
		"fade":    {func(c *Canvas) { c.Fade(0, 10, red, blue) }, []Point{{0, 0}, {63, 0}}, []Point{{0, 10}}},
	} {
		c := NewCanvas(64)
		shape.draw(c)
		for _, p := range shape.in {
			if c.colour(p.X, p.Y) != red {
				t.Errorf("%s: %v is not filled", name, p)
			}
		}
		for _, p := range shape.free {
			if c.colour(p.X, p.Y) != (Ink{}) {
				t.Errorf("%s: %v is filled", name, p)
			}
		}
	}
	if got := RGB(100, 200, 10).Shade(150); got != RGB(150, 255, 15) {
		t.Errorf("shade: %v", got)
	}
}

// TestPicture checks that a seed gives the same picture, and that grain is drawn.
func TestPicture(t *testing.T) {
	picture := func(seed uint64, grain int) string {
		c := NewCanvas(64)
		c.Fade(0, 64, RGB(10, 20, 30), RGB(200, 220, 240))
		img := c.Picture(rand.New(rand.NewPCG(seed, 0)), grain)
		if img.Rect.Dx() != 32 || img.Rect.Dy() != 32 {
			t.Fatalf("a picture of %v", img.Rect)
		}
		return fmt.Sprintf("%x", md5.Sum(img.Y))
	}
	if first, again := picture(1, 7), picture(1, 7); first != again || first == picture(2, 7) || picture(1, 0) != picture(2, 0) {
		t.Error("pictures do not follow from seed and grain")
	}
}

func TestRoot(t *testing.T) {
	for v := range 10000 {
		if r := isqrt(v); r*r > v || (r+1)*(r+1) <= v {
			t.Fatalf("isqrt(%d) = %d", v, r)
		}
	}
	if isqrt(-4) != 0 || Clamp(-1) != 0 || Clamp(256) != 255 || Clamp(7) != 7 {
		t.Error("limits")
	}
}
