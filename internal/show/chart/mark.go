package chart

import "math"

// A Shape is the form of a mark.
type Shape uint8

const (
	Dot      Shape = iota
	Up             // a triangle that points up
	Down           // a triangle that points down
	Diamond        //
	Square         //
	Ring           // an empty circle
	Cross          // an X
	OpenUp         // an empty triangle that points up
	areaMark = 254 // the key of an area
	noMark   = 255 // lines without marks
)

// mark draws a shape of radius r around a point.
func (s *svg) mark(shape Shape, c Colour, x, y, r float64) {
	poly := func(class string, points ...float64) {
		s.printf(`<polygon class="%s k%d" points="`, class, c)
		for i := 0; i+1 < len(points); i += 2 {
			s.printf("%s,%s ", num(x+points[i]*r), num(y+points[i+1]*r))
		}
		s.WriteString(`"/>`)
	}
	h := math.Sqrt(3) / 2
	switch shape {
	case Up:
		poly("", 0, -1.2, h*1.2, 0.7, -h*1.2, 0.7)
	case OpenUp:
		poly("open", 0, -1.2, h*1.2, 0.7, -h*1.2, 0.7)
	case Down:
		poly("", 0, 1.2, h*1.2, -0.7, -h*1.2, -0.7)
	case Diamond:
		poly("", 0, -1.2, 1.2, 0, 0, 1.2, -1.2, 0)
	case Square:
		poly("", -0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9)
	case Cross:
		s.printf(`<path class="line k%d" d="M%s %sL%s %sM%s %sL%s %s"/>`, c, num(x-r), num(y-r), num(x+r), num(y+r), num(x-r), num(y+r), num(x+r), num(y-r))
	case Ring:
		s.printf(`<circle class="open k%d" cx="%s" cy="%s" r="%s"/>`, c, num(x), num(y), num(r))
	case areaMark:
		s.printf(`<rect class="area k%d" x="%s" y="%s" width="14" height="9"/>`, c, num(x-7), num(y-4))
	case noMark:
	default:
		s.printf(`<circle class="k%d" cx="%s" cy="%s" r="%s"/>`, c, num(x), num(y), num(r))
	}
}

// A key is one entry of a legend.
type key struct {
	shape  Shape
	colour Colour
	line   bool
	dashed bool
	name   string
}

// dashed is the class of a dashed line, behind another one.
func dashed(is bool) string {
	if is {
		return " dashed"
	}
	return ""
}

// legend draws entries in rows from (x, y) and returns the height that it used.
func (s *svg) legend(keys []key, x, y, right float64) float64 {
	at, row := x, 0.0
	for _, k := range keys {
		w := 22 + textWidth(k.name) + 16
		if at+w > right && at > x {
			at, row = x, row+18
		}
		if k.line {
			s.printf(`<path class="line k%d%s" d="M%s %sH%s"/>`, k.colour, dashed(k.dashed), num(at), num(y+row-4), num(at+16))
		}
		s.mark(k.shape, k.colour, at+8, y+row-4, 4.5)
		s.text("", "start", at+22, y+row, k.name)
		at += w
	}
	return row + 18
}

// legendHeight is the height that legend will use.
func legendHeight(keys []key, x, right float64) float64 {
	return (&svg{}).legend(keys, x, 0, right)
}
