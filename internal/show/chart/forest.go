package chart

import (
	"html/template"
	"math"
)

// A Forest shows effects with their intervals, one in each row, beside a line at
// no effect.
type Forest struct {
	Title, Desc string
	Format      func(float64) string
	Rows        []Effect
	Width       float64
}

// An Effect is one row of a Forest, in percent. Bounded is false for an effect without an
// interval, which has no mark.
type Effect struct {
	Label       string
	Mid, Lo, Hi float64
	Bounded     bool
	Shape       Shape
	Colour      Colour
	Title       string
}

// SVG draws the effects. The axis covers the effects and most of their intervals: a
// bound that is further from its effect than all effects are from 0 is cut at the
// edge, so that one wide interval does not hide the others.
func (f *Forest) SVG() template.HTML {
	narrow := f.Width < 500
	label, each := f.Width*0.45, 24.0
	if narrow {
		label, each = 10, 40
	}
	lo, hi, most := 0.0, 0.0, 10.0
	for _, r := range f.Rows {
		if r.Bounded {
			most = max(most, math.Abs(r.Mid))
		}
	}
	for _, r := range f.Rows {
		if r.Bounded {
			lo, hi = min(lo, max(r.Lo, r.Mid-most)), max(hi, min(r.Hi, r.Mid+most))
		}
	}
	if lo == hi {
		hi = 1
	}
	pad := (hi - lo) * 0.04
	lo, hi = lo-pad, hi+pad
	x := func(v float64) float64 { return label + (min(max(v, lo), hi)-lo)/(hi-lo)*(f.Width-label-14) }
	bottom := each*float64(len(f.Rows)) + 8
	s := begin(f.Width, bottom+22, f.Title, f.Desc)
	end := math.Inf(-1)
	for _, t := range ticks(lo, hi, int((f.Width-label)/80)) {
		s.line("rule", x(t), 0, x(t), bottom)
		if w := textWidth(f.Format(t)); x(t)-w/2 > end+8 && x(t)+w/2 < f.Width-8 { // fonts differ in width
			s.text("dim", "middle", x(t), bottom+15, f.Format(t))
			end = x(t) + w/2
		}
	}
	s.line("axis", x(0), 0, x(0), bottom)
	for i, r := range f.Rows {
		y := each*float64(i) + 16
		s.titled(r.Title, func() {
			if narrow {
				s.text("", "start", 4, y, cut(r.Label, f.Width-8))
				y += 14
			} else {
				s.text("", "end", label-10, y+4, cut(r.Label, label-14))
			}
			if r.Bounded {
				c := class("bound", r.Colour)
				s.line(c, x(r.Lo), y, x(r.Hi), y)
				s.bound(c, x(r.Lo), y, r.Lo < lo, 1)
				s.bound(c, x(r.Hi), y, r.Hi > hi, -1)
				s.mark(r.Shape, r.Colour, x(r.Mid), y, 4.5)
			} else {
				s.text("dim", "start", x(0)+6, y+4, "not measured")
			}
		})
	}
	return s.end()
}

// bound ends an interval: with a bar, or with an arrow where the axis cuts it off.
// inward is the direction into the interval.
func (s *svg) bound(class string, x, y float64, cut bool, inward float64) {
	if !cut {
		s.line(class, x, y-4, x, y+4)
		return
	}
	s.line(class, x, y, x+6*inward, y-4)
	s.line(class, x, y, x+6*inward, y+4)
}
