package chart

import (
	"html/template"
	"math"
)

// A Plot shows values over time, or over the order of runs.
type Plot struct {
	Title, Desc string
	YName       string
	// Format formats values of the y axis.
	Format func(float64) string
	// XTicks are the labels of the x axis.
	XTicks []Tick
	// XLo and XHi are the bounds of the x axis. Plots with the same bounds have one
	// time axis.
	XLo, XHi float64
	Spans    []Span
	Bands    []Band // below the series
	Series   []Series
	// Width is that of the drawing, in its own units; text is 12 units high.
	Width, Height float64
}

// A Tick is a label of the x axis.
type Tick struct {
	X     float64
	Label string
}

// A Span marks a part of the x axis, as that of a trial, with a mark above it.
type Span struct {
	From, To float64
	Colour   Colour
	Shape    Shape
	Label    string // short: it stands above the plot
	Title    string
}

// A Series is a set of points of one kind.
type Series struct {
	Name   string
	Colour Colour
	Shape  Shape
	Line   bool // connect the points
	Bare   bool // no mark at a point
	Dashed bool // the line is dashed
	Points []Point
}

// A Point is one value. Lo and Hi are its interval if Hi > Lo.
type Point struct {
	X, Y, Lo, Hi float64
	Title        string
	Href         string // makes the point a link
}

// A Band is the area between two values over the x axis. Points need X, Lo and Hi.
type Band struct {
	Name   string
	Colour Colour
	Points []Point
}

// SVG draws the plot.
func (p *Plot) SVG() template.HTML {
	const left, right, top = 62, 12, 34
	keys := p.keys()
	bottom := 26 + legendHeight(keys, left, p.Width-right)
	s := begin(p.Width, p.Height+bottom+top, p.Title, p.Desc)
	a := area{x0: left, x1: p.Width - right, y0: top, y1: top + p.Height, p: p}
	a.lo, a.hi = p.bounds()
	s.text("dim", "start", 4, 12, p.YName)
	a.grid(s)
	for _, sp := range p.Spans {
		a.span(s, sp)
	}
	for _, b := range p.Bands {
		a.band(s, b)
	}
	for _, series := range p.Series {
		a.series(s, series)
	}
	s.legend(keys, left, a.y1+40, p.Width-right)
	return s.end()
}

func (p *Plot) keys() (keys []key) {
	for _, b := range p.Bands {
		if b.Name != "" && len(b.Points) > 0 {
			keys = append(keys, key{areaMark, b.Colour, false, false, b.Name})
		}
	}
	for _, s := range p.Series {
		if s.Name == "" || len(s.Points) == 0 {
			continue
		}
		k := key{s.Shape, s.Colour, s.Line, s.Dashed, s.Name}
		if s.Bare {
			k.shape = noMark
		}
		keys = append(keys, k)
	}
	return keys
}

// bounds are those of the y axis, which begins at 0.
func (p *Plot) bounds() (lo, hi float64) {
	for _, b := range p.Bands {
		for _, pt := range b.Points {
			if !math.IsNaN(pt.Hi) && !math.IsInf(pt.Hi, 0) {
				hi = max(hi, pt.Hi)
			}
		}
	}
	for _, s := range p.Series {
		for _, pt := range s.Points {
			if v := max(pt.Y, pt.Hi); !math.IsNaN(v) && !math.IsInf(v, 0) {
				hi = max(hi, v)
			}
		}
	}
	if hi == 0 {
		hi = 1
	}
	return 0, hi * 1.05
}

// An area maps values to coordinates.
type area struct {
	x0, x1, y0, y1, lo, hi float64
	p                      *Plot
}

func (a *area) x(v float64) float64 {
	if a.p.XHi <= a.p.XLo {
		return (a.x0 + a.x1) / 2
	}
	return a.x0 + (v-a.p.XLo)/(a.p.XHi-a.p.XLo)*(a.x1-a.x0)
}

func (a *area) y(v float64) float64 {
	return a.y1 - (min(max(v, a.lo), a.hi)-a.lo)/(a.hi-a.lo)*(a.y1-a.y0)
}

func (a *area) grid(s *svg) {
	for _, t := range ticks(a.lo, a.hi, int(a.p.Height/45)) {
		s.line("rule", a.x0, a.y(t), a.x1, a.y(t))
		s.text("dim", "end", a.x0-6, a.y(t)+4, a.p.Format(t))
	}
	s.line("axis", a.x0, a.y1, a.x1, a.y1)
	end := math.Inf(-1) // of the previous label
	for _, t := range a.p.XTicks {
		x, half := a.x(t.X), textWidth(t.Label)/2
		if x-half < end+8 || x+half > a.x1+10 {
			continue
		}
		s.line("axis", x, a.y1, x, a.y1+4)
		s.text("dim", "middle", x, a.y1+17, t.Label)
		end = x + half
	}
}

func (a *area) span(s *svg, sp Span) {
	s.titled(sp.Title, func() { a.drawSpan(s, sp) })
}

func (a *area) drawSpan(s *svg, sp Span) {
	x0, x1 := a.x(sp.From), a.x(sp.To)
	s.printf(`<rect class="span k%d" x="%s" y="%s" width="%s" height="%s"/>`, sp.Colour, num(x0), num(a.y0-14), num(max(x1-x0, 2)), num(a.y1-a.y0+14))
	mid := (x0 + x1) / 2
	s.mark(sp.Shape, sp.Colour, mid, a.y0-9, 4.5)
	if w := textWidth(sp.Label); w+14 < max(x1-x0, 0) {
		s.text("", "start", mid+7, a.y0-5, sp.Label)
	}
}

func (a *area) series(s *svg, series Series) {
	if series.Line && len(series.Points) > 1 {
		s.printf(`<polyline class="line k%d%s" points="`, series.Colour, dashed(series.Dashed))
		for _, p := range series.Points {
			s.printf("%s,%s ", num(a.x(p.X)), num(a.y(p.Y)))
		}
		s.WriteString(`"/>`)
	}
	for _, p := range series.Points {
		if series.Bare && p.Hi <= p.Lo && p.Title == "" {
			continue
		}
		s.linked(p.Href, p.Title, func() { a.point(s, series, p) })
	}
}

// band draws the area of a band, with its upper edge as a line.
func (a *area) band(s *svg, b Band) {
	if len(b.Points) < 2 {
		return
	}
	s.printf(`<polygon class="area k%d" points="`, b.Colour)
	for _, p := range b.Points {
		s.printf("%s,%s ", num(a.x(p.X)), num(a.y(p.Hi)))
	}
	for i := len(b.Points) - 1; i >= 0; i-- {
		p := b.Points[i]
		s.printf("%s,%s ", num(a.x(p.X)), num(a.y(p.Lo)))
	}
	s.WriteString(`"/>`)
}

func (a *area) point(s *svg, series Series, p Point) {
	x := a.x(p.X)
	if p.Hi > p.Lo {
		s.line(class("bound", series.Colour), x, a.y(p.Lo), x, a.y(p.Hi))
		s.line(class("bound", series.Colour), x-4, a.y(p.Lo), x+4, a.y(p.Lo))
		s.line(class("bound", series.Colour), x-4, a.y(p.Hi), x+4, a.y(p.Hi))
	}
	if !series.Bare {
		s.mark(series.Shape, series.Colour, x, a.y(p.Y), 4)
	}
}

func class(name string, c Colour) string { return name + " k" + num(float64(c)) }

// At draws the plot in a width.
func (p *Plot) At(width float64) template.HTML {
	c := *p
	c.Width = width
	return c.SVG()
}
