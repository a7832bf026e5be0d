package isucondition

import (
	"image"
	"image/color"
	"math/rand/v2"
)

// A canvas is a square drawing in the making: flat colours, drawn at twice the
// size of the picture so that shrinking it smooths the edges. It computes in
// integers only, so that every machine draws the same bytes.
type canvas struct {
	size int
	pix  []ink
}

type ink struct{ r, g, b uint8 }

type point struct{ x, y int }

func newCanvas(size int) *canvas {
	return &canvas{size: size, pix: make([]ink, size*size)}
}

// shade makes an ink lighter (above 100) or darker (below), in percent.
func (c ink) shade(percent int) ink {
	f := func(v uint8) uint8 { return uint8(min(255, int(v)*percent/100)) }
	return ink{f(c.r), f(c.g), f(c.b)}
}

// towards mixes two inks: part of whole of the other.
func (c ink) towards(o ink, part, whole int) ink {
	f := func(a, b uint8) uint8 { return uint8(int(a) + (int(b)-int(a))*part/whole) }
	return ink{f(c.r, o.r), f(c.g, o.g), f(c.b, o.b)}
}

// span fills a piece of a line from x0 up to but not including x1.
func (c *canvas) span(y, x0, x1 int, k ink) {
	if y < 0 || y >= c.size {
		return
	}
	for x := max(0, x0); x < min(c.size, x1); x++ {
		c.pix[y*c.size+x] = k
	}
}

func (c *canvas) rect(x0, y0, x1, y1 int, k ink) {
	for y := y0; y < y1; y++ {
		c.span(y, x0, x1, k)
	}
}

// fade fills lines y0 to y1 with one ink turning into another.
func (c *canvas) fade(y0, y1 int, from, to ink) {
	for y := y0; y < y1; y++ {
		c.span(y, 0, c.size, from.towards(to, y-y0, y1-y0))
	}
}

// polygon fills a convex polygon.
func (c *canvas) polygon(k ink, corners ...point) {
	top, bottom := corners[0].y, corners[0].y
	for _, p := range corners {
		top, bottom = min(top, p.y), max(bottom, p.y)
	}
	for y := max(0, top); y < min(c.size, bottom); y++ {
		left, right := c.size, 0
		for i, a := range corners {
			b := corners[(i+1)%len(corners)]
			if a.y > b.y {
				a, b = b, a
			}
			if y < a.y || y >= b.y {
				continue
			}
			x := a.x + (b.x-a.x)*(y-a.y)/(b.y-a.y)
			left, right = min(left, x), max(right, x+1)
		}
		c.span(y, left, right, k)
	}
}

// ellipse fills an ellipse of half axes a and b around a point.
func (c *canvas) ellipse(k ink, at point, a, b int) {
	for dy := -b; dy <= b; dy++ {
		// The half width grows and shrinks by steps; isqrt keeps it exact.
		half := a * isqrt(b*b-dy*dy) / max(1, b)
		c.span(at.y+dy, at.x-half, at.x+half+1, k)
	}
}

// line draws a straight bar of a width between two points, for legs and slats.
func (c *canvas) line(k ink, from, to point, width int) {
	dx, dy := abs(to.x-from.x), abs(to.y-from.y)
	if dy >= dx {
		c.polygon(k, point{from.x - width/2, from.y}, point{from.x + width/2, from.y},
			point{to.x + width/2, to.y}, point{to.x - width/2, to.y})
		return
	}
	c.polygon(k, point{from.x, from.y - width/2}, point{to.x, to.y - width/2},
		point{to.x, to.y + width/2}, point{from.x, from.y + width/2})
}

// picture shrinks the canvas to half its size, with grain as a cheap camera's:
// blotches of three pixels, which cost bytes at middling qualities too.
func (c *canvas) picture(r *rand.Rand, grain int) *image.YCbCr {
	half := c.size / 2
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
			for _, p := range [4]int{0, 1, c.size, c.size + 1} {
				k := c.pix[2*y*c.size+2*x+p]
				sr, sg, sb = sr+int(k.r), sg+int(k.g), sb+int(k.b)
			}
			noise := blotches[x/3]
			luma, cb, cr := color.RGBToYCbCr(clamp(sr/4+noise), clamp(sg/4+noise), clamp(sb/4+noise))
			img.Y[img.YOffset(x, y)] = luma
			img.Cb[img.COffset(x, y)] = cb
			img.Cr[img.COffset(x, y)] = cr
		}
	}
	return img
}

func clamp(v int) uint8 { return uint8(min(255, max(0, v))) }

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
