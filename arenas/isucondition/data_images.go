package isucondition

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"sync"
)

const (
	imageSeed   = 11
	imageBases  = 14  // drawings that the pool varies
	pictureSize = 336 // pixels, a multiple of the 16 that the encoder works in
	lowQuality  = 5
	highQuality = 99
)

// thePool draws the icons once in a process, at the first need of them.
var thePool = sync.OnceValues(drawPool)

// drawPool makes the icons of the pool: every drawing in many exposures, as
// cheap cameras would take it. The same bytes come out on every machine.
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
		luma[v] = clamp((bent-128)*contrast/100 + 128 + brightness)
		chroma[v] = clamp((v-128)*saturation/100 + 128)
	}
	img := image.NewYCbCr(base.Rect, base.SubsampleRatio)
	remap(img.Y, base.Y, base.YStride, &luma, mirror)
	remap(img.Cb, base.Cb, base.CStride, &chroma, mirror)
	remap(img.Cr, base.Cr, base.CStride, &chroma, mirror)
	return img
}

// remap copies a plane through a table, mirrored if wanted.
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
	wallInks  = []ink{{226, 214, 190}, {198, 216, 222}, {222, 200, 204}, {206, 218, 196}, {232, 228, 220}, {180, 190, 206}}
	floorInks = []ink{{166, 124, 84}, {132, 110, 96}, {190, 164, 120}, {120, 128, 120}, {150, 96, 70}}
	seatInks  = []ink{{196, 60, 52}, {42, 106, 160}, {230, 166, 46}, {62, 132, 92}, {120, 82, 150}, {70, 72, 84}, {214, 120, 146}, {240, 232, 214}}
	woodInks  = []ink{{134, 88, 52}, {92, 62, 44}, {196, 152, 98}, {64, 66, 72}, {170, 172, 176}}
)

func pick(r *rand.Rand, inks []ink) ink { return inks[r.IntN(len(inks))] }

// A sketch is the measure of one drawing, in pixels of the canvas.
type sketch struct {
	seat, wood   ink
	x, y         int // middle of the seat
	w, d         int // half width and depth of the seat
	leg, back    int // heights
	thick        int
	slats        int // 0 is a solid back, below 0 a round one
	column, arms bool
}

// drawChair draws one chair in its room. Number decides on its kind.
func drawChair(r *rand.Rand, number int) *image.YCbCr {
	c := newCanvas(2 * pictureSize)
	drawRoom(c, r)
	ch := sketch{
		seat: pick(r, seatInks), wood: pick(r, woodInks),
		x: c.size/2 + r.IntN(65) - 32, y: c.size*6/10 + r.IntN(33) - 16,
		w: 120 + r.IntN(72), d: 64 + r.IntN(40),
		leg: 152 + r.IntN(48), back: 224 + r.IntN(120), thick: 22 + r.IntN(28),
		slats: number%5 - 1, column: number%4 == 3, arms: number%3 == 1,
	}
	ch.draw(c)
	return c.picture(r, 7+r.IntN(9))
}

// drawRoom draws wall, floor, planks and sometimes a window.
func drawRoom(c *canvas, r *rand.Rand) {
	wall, floor := pick(r, wallInks), pick(r, floorInks)
	horizon := c.size * (60 + r.IntN(12)) / 100
	c.fade(0, horizon, wall.shade(92), wall)
	if r.IntN(2) == 0 {
		for x := r.IntN(40); x < c.size; x += 64 {
			c.rect(x, 0, x+18, horizon, wall.shade(104))
		}
	}
	if r.IntN(3) > 0 {
		x, y := 40+r.IntN(c.size/2), 50+r.IntN(60)
		c.rect(x-10, y-10, x+190, y+230, ink{250, 248, 240})
		c.rect(x, y, x+85, y+220, ink{150, 200, 232})
		c.rect(x+95, y, x+180, y+220, ink{164, 208, 236})
	}
	c.fade(horizon, c.size, floor.shade(80), floor.shade(115))
	c.rect(0, horizon-8, c.size, horizon+6, floor.shade(60))
	middle := c.size / 2
	for i := -9; i <= 9; i++ {
		c.line(floor.shade(72), point{middle + i*50, horizon + 6}, point{middle + i*150, c.size}, 3)
	}
}

func (ch sketch) draw(c *canvas) {
	c.ellipse(ink{60, 48, 40}, point{ch.x + 14, ch.y + ch.leg + 8}, ch.w+50, ch.d/2+8)
	ch.drawLegs(c)
	ch.drawBack(c)
	ch.drawSeat(c)
	if ch.arms {
		for _, side := range []int{-1, 1} {
			x := ch.x + side*(ch.w+6)
			c.line(ch.wood.shade(85), point{x, ch.y - 80}, point{x, ch.y + 10}, 16)
			c.rect(x-16, ch.y-96, x+16, ch.y-76, ch.wood)
		}
	}
}

func (ch sketch) drawLegs(c *canvas) {
	foot := ch.y + ch.leg
	if ch.column {
		c.line(ch.wood, point{ch.x, ch.y}, point{ch.x, foot - 20}, 26)
		for _, dx := range []int{-2, -1, 1, 2} {
			c.polygon(ch.wood.shade(70+10*dx*dx), point{ch.x - 10, foot - 34}, point{ch.x + 10, foot - 34},
				point{ch.x + dx*ch.w/2 + 12, foot + 6}, point{ch.x + dx*ch.w/2 - 12, foot + 6})
			c.ellipse(ink{30, 30, 34}, point{ch.x + dx*ch.w/2, foot + 8}, 13, 13)
		}
		return
	}
	for _, side := range []int{-1, 1} {
		near, far := ch.x+side*(ch.w-14), ch.x+side*(ch.w-46)
		c.line(ch.wood.shade(64), point{far, ch.y - ch.d/2}, point{far + side*6, foot - ch.d/2}, 18)
		c.line(ch.wood, point{near, ch.y + ch.d/2}, point{near + side*12, foot + 10}, 22)
	}
	c.line(ch.wood.shade(80), point{ch.x - ch.w + 20, ch.y + ch.leg/2}, point{ch.x + ch.w - 20, ch.y + ch.leg/2}, 14)
}

func (ch sketch) drawBack(c *canvas) {
	top, bottom := ch.y-ch.back, ch.y-ch.d/3
	left, right := ch.x-ch.w+26, ch.x+ch.w-26
	switch {
	case ch.slats < 0:
		middle := point{ch.x, (top + bottom) / 2}
		c.ellipse(ch.wood, middle, ch.w, (bottom-top)/2+18)
		c.ellipse(ch.seat, middle, ch.w-18, (bottom-top)/2)
		c.ellipse(ch.seat.shade(112), point{middle.x - 20, middle.y - 20}, ch.w/2, (bottom-top)/4)
	case ch.slats == 0:
		c.polygon(ch.wood, point{left - 16, top - 14}, point{right + 16, top - 14}, point{right, bottom + 10}, point{left, bottom + 10})
		c.polygon(ch.seat.shade(92), point{left + 4, top + 4}, point{right - 4, top + 4}, point{right - 16, bottom}, point{left + 16, bottom})
		for i := 1; i < 4; i++ {
			c.ellipse(ch.seat.shade(66), point{ch.x, top + i*(bottom-top)/4}, 7, 7)
		}
	default:
		c.line(ch.wood, point{left - 12, top - 20}, point{left, bottom + 16}, 24)
		c.line(ch.wood, point{right + 12, top - 20}, point{right, bottom + 16}, 24)
		c.rect(left-18, top-10, right+18, top+26, ch.wood.shade(110))
		for i := 1; i <= 2*ch.slats; i++ {
			x := left + i*(right-left)/(2*ch.slats+1)
			c.line(ch.wood.shade(88), point{x, top + 20}, point{x, bottom + 16}, 16)
		}
	}
}

func (ch sketch) drawSeat(c *canvas) {
	back, front := ch.y-ch.d/2, ch.y+ch.d/2
	c.polygon(ch.seat.shade(104), point{ch.x - ch.w + 24, back}, point{ch.x + ch.w - 24, back},
		point{ch.x + ch.w, front}, point{ch.x - ch.w, front})
	c.rect(ch.x-ch.w, front, ch.x+ch.w, front+ch.thick, ch.seat.shade(76))
	c.ellipse(ch.seat.shade(118), point{ch.x - 10, ch.y - 4}, ch.w-50, ch.d/3)
}
