package draw

import "math/rand/v2"

var (
	wallInks  = []Ink{RGB(226, 214, 190), RGB(198, 216, 222), RGB(222, 200, 204), RGB(206, 218, 196), RGB(232, 228, 220), RGB(180, 190, 206)}
	floorInks = []Ink{RGB(166, 124, 84), RGB(132, 110, 96), RGB(190, 164, 120), RGB(120, 128, 120), RGB(150, 96, 70)}
	seatInks  = []Ink{RGB(196, 60, 52), RGB(42, 106, 160), RGB(230, 166, 46), RGB(62, 132, 92), RGB(120, 82, 150), RGB(70, 72, 84), RGB(214, 120, 146), RGB(240, 232, 214)}
	woodInks  = []Ink{RGB(134, 88, 52), RGB(92, 62, 44), RGB(196, 152, 98), RGB(64, 66, 72), RGB(170, 172, 176)}
)

func pick(r *rand.Rand, inks []Ink) Ink { return inks[r.IntN(len(inks))] }

// A Chair holds the measures of one drawing, in pixels of the canvas.
type Chair struct {
	Seat, Wood   Ink
	X, Y         int // center of the seat
	W, D         int // half width and depth of the seat
	Leg, Back    int // heights
	Thick        int
	Slats        int // 0 means a solid back, below 0 a round one
	Column, Arms bool
}

// RandomChair draws one chair in its room. number selects the kind of chair, size
// is that of the picture in pixels.
func RandomChair(r *rand.Rand, number, size int) *Canvas {
	c := NewCanvas(2 * size)
	drawRoom(c, r)
	ch := Chair{
		Seat: pick(r, seatInks), Wood: pick(r, woodInks),
		X: c.Size/2 + r.IntN(65) - 32, Y: c.Size*6/10 + r.IntN(33) - 16,
		W: 120 + r.IntN(72), D: 64 + r.IntN(40),
		Leg: 152 + r.IntN(48), Back: 224 + r.IntN(120), Thick: 22 + r.IntN(28),
		Slats: number%5 - 1, Column: number%4 == 3, Arms: number%3 == 1,
	}
	ch.draw(c)
	return c
}

// drawRoom draws wall, floor, planks and sometimes a window.
func drawRoom(c *Canvas, r *rand.Rand) {
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
		c.Rect(x-10, y-10, x+190, y+230, RGB(250, 248, 240))
		c.Rect(x, y, x+85, y+220, RGB(150, 200, 232))
		c.Rect(x+95, y, x+180, y+220, RGB(164, 208, 236))
	}
	c.Fade(horizon, c.Size, floor.Shade(80), floor.Shade(115))
	c.Rect(0, horizon-8, c.Size, horizon+6, floor.Shade(60))
	middle := c.Size / 2
	for i := -9; i <= 9; i++ {
		c.Line(floor.Shade(72), At(middle+i*50, horizon+6), At(middle+i*150, c.Size), 3)
	}
}

func (ch Chair) draw(c *Canvas) {
	c.Ellipse(RGB(60, 48, 40), At(ch.X+14, ch.Y+ch.Leg+8), ch.W+50, ch.D/2+8)
	ch.Legs(c)
	ch.BackRest(c)
	ch.SeatTop(c)
	if ch.Arms {
		for _, side := range []int{-1, 1} {
			x := ch.X + side*(ch.W+6)
			c.Line(ch.Wood.Shade(85), At(x, ch.Y-80), At(x, ch.Y+10), 16)
			c.Rect(x-16, ch.Y-96, x+16, ch.Y-76, ch.Wood)
		}
	}
}

// Legs draws the legs, or a column with casters.
func (ch Chair) Legs(c *Canvas) {
	foot := ch.Y + ch.Leg
	if ch.Column {
		c.Line(ch.Wood, At(ch.X, ch.Y), At(ch.X, foot-20), 26)
		for _, dx := range []int{-2, -1, 1, 2} {
			c.Polygon(ch.Wood.Shade(70+10*dx*dx), At(ch.X-10, foot-34), At(ch.X+10, foot-34),
				At(ch.X+dx*ch.W/2+12, foot+6), At(ch.X+dx*ch.W/2-12, foot+6))
			c.Ellipse(RGB(30, 30, 34), At(ch.X+dx*ch.W/2, foot+8), 13, 13)
		}
		return
	}
	for _, side := range []int{-1, 1} {
		near, far := ch.X+side*(ch.W-14), ch.X+side*(ch.W-46)
		c.Line(ch.Wood.Shade(64), At(far, ch.Y-ch.D/2), At(far+side*6, foot-ch.D/2), 18)
		c.Line(ch.Wood, At(near, ch.Y+ch.D/2), At(near+side*12, foot+10), 22)
	}
	c.Line(ch.Wood.Shade(80), At(ch.X-ch.W+20, ch.Y+ch.Leg/2), At(ch.X+ch.W-20, ch.Y+ch.Leg/2), 14)
}

// BackRest draws the back, which is round, solid or of slats.
func (ch Chair) BackRest(c *Canvas) {
	top, bottom := ch.Y-ch.Back, ch.Y-ch.D/3
	left, right := ch.X-ch.W+26, ch.X+ch.W-26
	switch {
	case ch.Slats < 0:
		middle := At(ch.X, (top+bottom)/2)
		c.Ellipse(ch.Wood, middle, ch.W, (bottom-top)/2+18)
		c.Ellipse(ch.Seat, middle, ch.W-18, (bottom-top)/2)
		c.Ellipse(ch.Seat.Shade(112), At(middle.X-20, middle.Y-20), ch.W/2, (bottom-top)/4)
	case ch.Slats == 0:
		c.Polygon(ch.Wood, At(left-16, top-14), At(right+16, top-14), At(right, bottom+10), At(left, bottom+10))
		c.Polygon(ch.Seat.Shade(92), At(left+4, top+4), At(right-4, top+4), At(right-16, bottom), At(left+16, bottom))
		for i := 1; i < 4; i++ {
			c.Ellipse(ch.Seat.Shade(66), At(ch.X, top+i*(bottom-top)/4), 7, 7)
		}
	default:
		c.Line(ch.Wood, At(left-12, top-20), At(left, bottom+16), 24)
		c.Line(ch.Wood, At(right+12, top-20), At(right, bottom+16), 24)
		c.Rect(left-18, top-10, right+18, top+26, ch.Wood.Shade(110))
		for i := 1; i <= 2*ch.Slats; i++ {
			x := left + i*(right-left)/(2*ch.Slats+1)
			c.Line(ch.Wood.Shade(88), At(x, top+20), At(x, bottom+16), 16)
		}
	}
}

// SeatTop draws the seat.
func (ch Chair) SeatTop(c *Canvas) {
	back, front := ch.Y-ch.D/2, ch.Y+ch.D/2
	c.Polygon(ch.Seat.Shade(104), At(ch.X-ch.W+24, back), At(ch.X+ch.W-24, back),
		At(ch.X+ch.W, front), At(ch.X-ch.W, front))
	c.Rect(ch.X-ch.W, front, ch.X+ch.W, front+ch.Thick, ch.Seat.Shade(76))
	c.Ellipse(ch.Seat.Shade(118), At(ch.X-10, ch.Y-4), ch.W-50, ch.D/3)
}
