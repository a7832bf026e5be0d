package isucondition

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/iikanji/iikanji/internal/arena/kit/draw"
)

const (
	imageSeed   = 11
	imageBases  = 14  // drawings, each used for several images of the pool
	pictureSize = 336 // pixels; a multiple of 16, the encoder's block size
	lowQuality  = 5
	highQuality = 99
)

// thePool draws the icons once per process, at first use.
var thePool = sync.OnceValues(drawPool)

// drawPool makes the icons of the pool: every drawing in many exposures, like
// photos of cheap cameras. The bytes are the same on every machine.
func drawPool() ([]Image, error) {
	r := rand.New(rand.NewPCG(imageSeed, 0))
	bases := make([]*image.YCbCr, imageBases)
	for i := range bases {
		bases[i] = drawChair(r, i)
	}
	pool := make([]Image, Images)
	for i := range pool {
		picture := expose(bases[i%len(bases)], r)
		var b bytes.Buffer
		if err := jpeg.Encode(&b, picture, &jpeg.Options{Quality: lowQuality + r.IntN(highQuality-lowQuality+1)}); err != nil {
			return nil, fmt.Errorf("encoding picture %d: %w", i, err)
		}
		pool[i] = newImage(b.Bytes())
	}
	return pool, nil
}

// expose varies brightness, contrast, gamma and saturation of a picture.
func expose(base *image.YCbCr, r *rand.Rand) *image.YCbCr {
	brightness := r.IntN(81) - 40
	contrast := 60 + r.IntN(91)
	gamma := float64(60+r.IntN(101)) / 100
	saturation := r.IntN(181)
	mirror := r.IntN(2) == 1

	var luma, chroma [256]uint8
	for v := range 256 {
		bent := int(math.Round(math.Pow(float64(v)/255, gamma) * 255))
		luma[v] = draw.Clamp((bent-128)*contrast/100 + 128 + brightness)
		chroma[v] = draw.Clamp((v-128)*saturation/100 + 128)
	}
	img := image.NewYCbCr(base.Rect, base.SubsampleRatio)
	remap(img.Y, base.Y, base.YStride, &luma, mirror)
	remap(img.Cb, base.Cb, base.CStride, &chroma, mirror)
	remap(img.Cr, base.Cr, base.CStride, &chroma, mirror)
	return img
}

// remap copies a plane through a table, optionally mirrored.
func remap(to, from []uint8, stride int, table *[256]uint8, mirror bool) {
	for start := 0; start < len(from); start += stride {
		for x := range stride {
			source := x
			if mirror {
				source = stride - 1 - x
			}
			to[start+x] = table[from[start+source]]
		}
	}
}

var (
	wallInks  = []draw.Ink{draw.RGB(226, 214, 190), draw.RGB(198, 216, 222), draw.RGB(222, 200, 204), draw.RGB(206, 218, 196), draw.RGB(232, 228, 220), draw.RGB(180, 190, 206)}
	floorInks = []draw.Ink{draw.RGB(166, 124, 84), draw.RGB(132, 110, 96), draw.RGB(190, 164, 120), draw.RGB(120, 128, 120), draw.RGB(150, 96, 70)}
	seatInks  = []draw.Ink{draw.RGB(196, 60, 52), draw.RGB(42, 106, 160), draw.RGB(230, 166, 46), draw.RGB(62, 132, 92), draw.RGB(120, 82, 150), draw.RGB(70, 72, 84), draw.RGB(214, 120, 146), draw.RGB(240, 232, 214)}
	woodInks  = []draw.Ink{draw.RGB(134, 88, 52), draw.RGB(92, 62, 44), draw.RGB(196, 152, 98), draw.RGB(64, 66, 72), draw.RGB(170, 172, 176)}
)

func pick(r *rand.Rand, inks []draw.Ink) draw.Ink { return inks[r.IntN(len(inks))] }

// A sketch holds the measures of one drawing, in pixels of the canvas.
type sketch struct {
	seat, wood   draw.Ink
	x, y         int // center of the seat
	w, d         int // half width and depth of the seat
	leg, back    int // heights
	thick        int
	slats        int // 0 means a solid back, below 0 a round one
	column, arms bool
}

// drawChair draws one chair in its room. number selects the kind of chair.
func drawChair(r *rand.Rand, number int) *image.YCbCr {
	c := draw.NewCanvas(2 * pictureSize)
	drawRoom(c, r)
	ch := sketch{
		seat: pick(r, seatInks), wood: pick(r, woodInks),
		x: c.Size/2 + r.IntN(65) - 32, y: c.Size*6/10 + r.IntN(33) - 16,
		w: 120 + r.IntN(72), d: 64 + r.IntN(40),
		leg: 152 + r.IntN(48), back: 224 + r.IntN(120), thick: 22 + r.IntN(28),
		slats: number%5 - 1, column: number%4 == 3, arms: number%3 == 1,
	}
	ch.draw(c)
	return c.Picture(r, 7+r.IntN(9))
}

// drawRoom draws wall, floor, planks and sometimes a window.
func drawRoom(c *draw.Canvas, r *rand.Rand) {
	wall, floor := pick(r, wallInks), pick(r, floorInks)
	horizon := c.Size * (60 + r.IntN(12)) / 100
	c.Fade(0, horizon, wall.Shade(92), wall)
	if r.IntN(2) == 0 {
		for x := r.IntN(40); x < c.Size; x += 64 {
			c.Rect(x, 0, x+18, horizon, wall.Shade(104))
		}
	}
	if r.IntN(3) > 0 {
		x, y := 40+r.IntN(c.Size/2), 50+r.IntN(60)
		c.Rect(x-10, y-10, x+190, y+230, draw.RGB(250, 248, 240))
		c.Rect(x, y, x+85, y+220, draw.RGB(150, 200, 232))
		c.Rect(x+95, y, x+180, y+220, draw.RGB(164, 208, 236))
	}
	c.Fade(horizon, c.Size, floor.Shade(80), floor.Shade(115))
	c.Rect(0, horizon-8, c.Size, horizon+6, floor.Shade(60))
	middle := c.Size / 2
	for i := -9; i <= 9; i++ {
		c.Line(floor.Shade(72), draw.At(middle+i*50, horizon+6), draw.At(middle+i*150, c.Size), 3)
	}
}

func (ch sketch) draw(c *draw.Canvas) {
	c.Ellipse(draw.RGB(60, 48, 40), draw.At(ch.x+14, ch.y+ch.leg+8), ch.w+50, ch.d/2+8)
	ch.drawLegs(c)
	ch.drawBack(c)
	ch.drawSeat(c)
	if ch.arms {
		for _, side := range []int{-1, 1} {
			x := ch.x + side*(ch.w+6)
			c.Line(ch.wood.Shade(85), draw.At(x, ch.y-80), draw.At(x, ch.y+10), 16)
			c.Rect(x-16, ch.y-96, x+16, ch.y-76, ch.wood)
		}
	}
}

func (ch sketch) drawLegs(c *draw.Canvas) {
	foot := ch.y + ch.leg
	if ch.column {
		c.Line(ch.wood, draw.At(ch.x, ch.y), draw.At(ch.x, foot-20), 26)
		for _, dx := range []int{-2, -1, 1, 2} {
			c.Polygon(ch.wood.Shade(70+10*dx*dx), draw.At(ch.x-10, foot-34), draw.At(ch.x+10, foot-34),
				draw.At(ch.x+dx*ch.w/2+12, foot+6), draw.At(ch.x+dx*ch.w/2-12, foot+6))
			c.Ellipse(draw.RGB(30, 30, 34), draw.At(ch.x+dx*ch.w/2, foot+8), 13, 13)
		}
		return
	}
	for _, side := range []int{-1, 1} {
		near, far := ch.x+side*(ch.w-14), ch.x+side*(ch.w-46)
		c.Line(ch.wood.Shade(64), draw.At(far, ch.y-ch.d/2), draw.At(far+side*6, foot-ch.d/2), 18)
		c.Line(ch.wood, draw.At(near, ch.y+ch.d/2), draw.At(near+side*12, foot+10), 22)
	}
	c.Line(ch.wood.Shade(80), draw.At(ch.x-ch.w+20, ch.y+ch.leg/2), draw.At(ch.x+ch.w-20, ch.y+ch.leg/2), 14)
}

func (ch sketch) drawBack(c *draw.Canvas) {
	top, bottom := ch.y-ch.back, ch.y-ch.d/3
	left, right := ch.x-ch.w+26, ch.x+ch.w-26
	switch {
	case ch.slats < 0:
		middle := draw.At(ch.x, (top+bottom)/2)
		c.Ellipse(ch.wood, middle, ch.w, (bottom-top)/2+18)
		c.Ellipse(ch.seat, middle, ch.w-18, (bottom-top)/2)
		c.Ellipse(ch.seat.Shade(112), draw.At(middle.X-20, middle.Y-20), ch.w/2, (bottom-top)/4)
	case ch.slats == 0:
		c.Polygon(ch.wood, draw.At(left-16, top-14), draw.At(right+16, top-14), draw.At(right, bottom+10), draw.At(left, bottom+10))
		c.Polygon(ch.seat.Shade(92), draw.At(left+4, top+4), draw.At(right-4, top+4), draw.At(right-16, bottom), draw.At(left+16, bottom))
		for i := 1; i < 4; i++ {
			c.Ellipse(ch.seat.Shade(66), draw.At(ch.x, top+i*(bottom-top)/4), 7, 7)
		}
	default:
		c.Line(ch.wood, draw.At(left-12, top-20), draw.At(left, bottom+16), 24)
		c.Line(ch.wood, draw.At(right+12, top-20), draw.At(right, bottom+16), 24)
		c.Rect(left-18, top-10, right+18, top+26, ch.wood.Shade(110))
		for i := 1; i <= 2*ch.slats; i++ {
			x := left + i*(right-left)/(2*ch.slats+1)
			c.Line(ch.wood.Shade(88), draw.At(x, top+20), draw.At(x, bottom+16), 16)
		}
	}
}

func (ch sketch) drawSeat(c *draw.Canvas) {
	back, front := ch.y-ch.d/2, ch.y+ch.d/2
	c.Polygon(ch.seat.Shade(104), draw.At(ch.x-ch.w+24, back), draw.At(ch.x+ch.w-24, back),
		draw.At(ch.x+ch.w, front), draw.At(ch.x-ch.w, front))
	c.Rect(ch.x-ch.w, front, ch.x+ch.w, front+ch.thick, ch.seat.Shade(76))
	c.Ellipse(ch.seat.Shade(118), draw.At(ch.x-10, ch.y-4), ch.w-50, ch.d/3)
}
