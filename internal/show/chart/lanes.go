package chart

import (
	"html/template"
	"math"
)

// Lanes are spans of time, each in the lane of its group, on one axis: a request
// with its statements, or the spans of a trace.
type Lanes struct {
	Title, Desc string
	// Format formats values of the time axis.
	Format func(float64) string
	Lo, Hi float64 // bounds of the axis
	Rows   []Lane
	Width  float64
}

// A Lane is one row of spans.
type Lane struct {
	Label string
	Spans []LaneSpan
}

// A LaneSpan is one span. A span that is not Certain is drawn with a dashed edge.
type LaneSpan struct {
	From, To float64
	Colour   Colour
	Certain  bool
	Title    string
}

// SVG draws the lanes.
func (l *Lanes) SVG() template.HTML {
	const each, top = 24.0, 22.0
	narrow := l.Width < 500
	label, height := l.Width*0.28, each
	if narrow {
		label, height = 4, each+16
	}
	hi := l.Hi
	if !(hi > l.Lo) {
		hi = l.Lo + 1
	}
	x := func(v float64) float64 {
		return label + (min(max(v, l.Lo), hi)-l.Lo)/(hi-l.Lo)*(l.Width-label-16)
	}
	bottom := top + height*float64(len(l.Rows)) + 6
	s := begin(l.Width, bottom, l.Title, l.Desc)
	end := math.Inf(-1)
	for _, t := range ticks(l.Lo, hi, int((l.Width-label)/80)) {
		s.line("rule", x(t), top-4, x(t), bottom)
		if w := textWidth(l.Format(t)); x(t)-w/2 > end+8 && x(t)+w/2 < l.Width {
			s.text("dim", "middle", x(t), 12, l.Format(t))
			end = x(t) + w/2
		}
	}
	for i, row := range l.Rows {
		y := top + height*float64(i)
		if narrow {
			s.text("", "start", 4, y+12, cut(row.Label, l.Width-8))
			y += 16
		} else {
			s.text("", "end", label-8, y+15, cut(row.Label, label-12))
		}
		for _, sp := range row.Spans {
			s.titled(sp.Title, func() {
				class := "k" + num(float64(sp.Colour))
				if !sp.Certain {
					class = "likely " + class
				}
				s.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="12"/>`, class, num(x(sp.From)), num(y+5), num(max(x(sp.To)-x(sp.From), 1.5)))
			})
		}
	}
	return s.end()
}

// At draws the lanes in a width.
func (l *Lanes) At(width float64) template.HTML {
	c := *l
	c.Width = width
	return c.SVG()
}
