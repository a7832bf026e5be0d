package chart

import "html/template"

// Pairs are pairs of horizontal bars, as before and after. The bar of the first
// of a pair is an outline, that of the second is filled.
type Pairs struct {
	Title, Desc string
	Names       [2]string
	Format      func(float64) string
	Rows        []PairRow
	Width       float64
}

// A PairRow is one pair; a negative value is not known and has no bar.
type PairRow struct {
	Label string
	A, B  float64
	Title string
}

// SVG draws the bars.
func (p *Pairs) SVG() template.HTML {
	const row, bar, top = 34, 12, 26
	narrow := p.Width < 500
	label, each := p.Width*0.4, float64(row)
	if narrow {
		label, each = 4, row+16 // the label stands above its bars
	}
	most := 0.0
	value := 0.0
	for _, r := range p.Rows {
		most = max(most, r.A, r.B)
		value = max(value, textWidth(p.Format(r.A)), textWidth(p.Format(r.B)))
	}
	s := begin(p.Width, top+each*float64(len(p.Rows))+4, p.Title, p.Desc)
	s.pairKeys(p.Names)
	room := p.Width - label - value - 14
	for i, r := range p.Rows {
		y := top + each*float64(i)
		s.titled(r.Title, func() {
			if narrow {
				s.text("", "start", 4, y+12, cut(r.Label, p.Width-8))
				y += 16
			} else {
				s.text("", "end", label-8, y+19, cut(r.Label, label-12))
			}
			for n, v := range []float64{r.A, r.B} {
				s.bar(n, label, y+3+float64(n)*(bar+1), v, most, room, bar, p.Format)
			}
		})
	}
	return s.end()
}

func (s *svg) pairKeys(names [2]string) {
	s.printf(`<rect class="open k2" x="4" y="5" width="16" height="10"/>`)
	s.text("", "start", 26, 14, names[0])
	x := 26 + textWidth(names[0]) + 20
	s.printf(`<rect class="k1" x="%s" y="5" width="16" height="10"/>`, num(x))
	s.text("", "start", x+22, 14, names[1])
}

// bar draws the n-th bar of a pair, with its value behind it.
func (s *svg) bar(n int, x, y, v, most, room, height float64, format func(float64) string) {
	if v < 0 {
		s.text("dim", "start", x+4, y+10, "not known")
		return
	}
	w := 0.0
	if most > 0 {
		w = v / most * room
	}
	class := "open k2"
	if n == 1 {
		class = "k1"
	}
	s.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, num(x), num(y), num(max(w, 0.5)), num(height-2))
	s.text("", "start", x+w+6, y+10, format(v))
}
