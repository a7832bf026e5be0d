// Package draw makes simple pictures for the data of arenas, the same bytes on
// every machine.
package draw

import (
	"image"
	"image/color"
	"math/rand/v2"
)

// A Canvas is a square of flat colours at twice the size of the picture, so that
// shrinking it smooths the edges. It uses integers only, so that every machine
// draws the same bytes.
type Canvas struct {
	Size int
	pix  []Ink
}

// An Ink is a colour.
type Ink struct{ r, g, b uint8 }

// RGB returns an ink.
func RGB(r, g, b uint8) Ink { return Ink{r, g, b} }

// A Point is a place on a canvas, in its pixels.
type Point struct{ X, Y int }

// At returns a point.
func At(x, y int) Point { return Point{x, y} }

// NewCanvas returns a black canvas.
func NewCanvas(size int) *Canvas {
	return &Canvas{Size: size, pix: make([]Ink, size*size)}
}

// Shade makes an ink lighter (above 100) or darker (below), in percent.
func (c Ink) Shade(percent int) Ink {
	f := func(v uint8) uint8 { return uint8(min(255, int(v)*percent/100)) }
	return Ink{f(c.r), f(c.g), f(c.b)}
}

// towards mixes two inks: part of whole of the other.
func (c Ink) towards(o Ink, part, whole int) Ink {
	f := func(a, b uint8) uint8 { return uint8(int(a) + (int(b)-int(a))*part/whole) }
	return Ink{f(c.r, o.r), f(c.g, o.g), f(c.b, o.b)}
}

// span fills a piece of a line from x0 up to but not including x1.
func (c *Canvas) span(y, x0, x1 int, k Ink) {
	if y < 0 || y >= c.Size {
		return
	}
	for x := max(0, x0); x < min(c.Size, x1); x++ {
		c.pix[y*c.Size+x] = k
	}
}

// Rect fills the rectangle from (x0, y0) up to but not including (x1, y1).
func (c *Canvas) Rect(x0, y0, x1, y1 int, k Ink) {
	for y := y0; y < y1; y++ {
		c.span(y, x0, x1, k)
	}
}

// Fade fills lines y0 to y1 with one ink turning into another.
func (c *Canvas) Fade(y0, y1 int, from, to Ink) {
	for y := y0; y < y1; y++ {
		c.span(y, 0, c.Size, from.towards(to, y-y0, y1-y0))
	}
}

// Polygon fills a convex polygon.
func (c *Canvas) Polygon(k Ink, corners ...Point) {
	top, bottom := corners[0].Y, corners[0].Y
	for _, p := range corners {
		top, bottom = min(top, p.Y), max(bottom, p.Y)
	}
	for y := max(0, top); y < min(c.Size, bottom); y++ {
		left, right := c.Size, 0
		for i, a := range corners {
			b := corners[(i+1)%len(corners)]
			if a.Y > b.Y {
				a, b = b, a
			}
			if y < a.Y || y >= b.Y {
				continue
			}
			x := a.X + (b.X-a.X)*(y-a.Y)/(b.Y-a.Y)
			left, right = min(left, x), max(right, x+1)
		}
		c.span(y, left, right, k)
	}
}

// Ellipse fills an ellipse of half axes a and b around a point.
func (c *Canvas) Ellipse(k Ink, at Point, a, b int) {
	for dy := -b; dy <= b; dy++ {
		// The half width grows and shrinks by steps; isqrt keeps it exact.
		half := a * isqrt(b*b-dy*dy) / max(1, b)
		c.span(at.Y+dy, at.X-half, at.X+half+1, k)
	}
}

// Line draws a straight bar of a width between two points, for legs and slats.
func (c *Canvas) Line(k Ink, from, to Point, width int) {
	dx, dy := abs(to.X-from.X), abs(to.Y-from.Y)
	if dy >= dx {
		c.Polygon(k, Point{from.X - width/2, from.Y}, Point{from.X + width/2, from.Y},
			Point{to.X + width/2, to.Y}, Point{to.X - width/2, to.Y})
		return
	}
	c.Polygon(k, Point{from.X, from.Y - width/2}, Point{to.X, to.Y - width/2},
		Point{to.X, to.Y + width/2}, Point{from.X, from.Y + width/2})
}

// Picture shrinks the canvas to half its size, with grain as a cheap camera's:
// blotches of three pixels, which cost bytes at middling qualities too.
func (c *Canvas) Picture(r *rand.Rand, grain int) *image.YCbCr {
	half := c.Size / 2
	img := image.NewYCbCr(image.Rect(0, 0, half, half), image.YCbCrSubsampleRatio420)
	blotches := make([]int, half/3+1)
	for y := range half {
		for i := range blotches {
			if y%3 == 0 {
				blotches[i] = r.IntN(2*grain+1) - grain
			}
		}
		for x := range half {
			var sr, sg, sb int
			for _, p := range [4]int{0, 1, c.Size, c.Size + 1} {
				k := c.pix[2*y*c.Size+2*x+p]
				sr, sg, sb = sr+int(k.r), sg+int(k.g), sb+int(k.b)
			}
			noise := blotches[x/3]
			luma, cb, cr := color.RGBToYCbCr(Clamp(sr/4+noise), Clamp(sg/4+noise), Clamp(sb/4+noise))
			img.Y[img.YOffset(x, y)] = luma
			img.Cb[img.COffset(x, y)] = cb
			img.Cr[img.COffset(x, y)] = cr
		}
	}
	return img
}

// Clamp limits a value to 0–255.
func Clamp(v int) uint8 { return uint8(min(255, max(0, v))) }

func abs(v int) int { return max(v, -v) }

// isqrt is the whole part of a square root (Heron's method).
func isqrt(v int) int {
	if v < 2 {
		return max(v, 0)
	}
	x := v
	for next := (x + 1) / 2; next < x; next = (x + v/x) / 2 {
		x = next
	}
	return x
}
