package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// An svg collects the elements of one chart.
type svg struct {
	strings.Builder
	width, height float64
	label         string
	links         bool // it has links: an image may have no interactive parts
}

// begin opens the element; title and desc are read by screen readers.
func begin(width, height float64, title, desc string) *svg {
	return &svg{width: width, height: height, label: title + ". " + desc}
}

func (s *svg) end() template.HTML {
	role := "img"
	if s.links {
		role = "group"
	}
	head := fmt.Sprintf(`<svg class="chart" role="%s" viewBox="0 0 %s %s" xmlns="http://www.w3.org/2000/svg" aria-label="%s">`, role, num(s.width), num(s.height), escape(s.label))
	return template.HTML(head + s.String() + "</svg>") // every text was escaped when it was written
}

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(&s.Builder, format, args...) }

// escape makes text safe for an element and for a quoted attribute. Characters
// that control a terminal or the direction of writing become "·".
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return '·'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
}

// num formats a coordinate with at most one decimal.
func num(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	s.printf(`<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, num(x1), num(y1), num(x2), num(y2))
}

// text writes a text; anchor is start, middle or end.
func (s *svg) text(class, anchor string, x, y float64, text string) {
	s.printf(`<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, num(x), num(y), escape(text))
}

// titled draws a group with a hover title; without one, there is no group.
func (s *svg) titled(title string, draw func()) {
	if title == "" {
		draw()
		return
	}
	s.printf("<g><title>%s</title>", escape(title))
	draw()
	s.WriteString("</g>")
}

// linked draws a titled group that is a link. The keyboard leaves it out: the table
// below a chart has the same links.
func (s *svg) linked(href, title string, draw func()) {
	if href == "" {
		s.titled(title, draw)
		return
	}
	s.links = true
	s.printf(`<a href="%s" tabindex="-1" aria-label="%s">`, escape(href), escape(title))
	s.titled(title, draw)
	s.WriteString("</a>")
}

// textWidth estimates the width of a text of 12 px: wide characters take twice
// the width of others.
func textWidth(text string) float64 {
	w := 0.0
	for _, r := range text {
		switch {
		case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r >= 0xff00 && r < 0xff61:
			w += 12
		case unicode.Is(unicode.Mn, r):
		default:
			w += 6.6
		}
	}
	return w
}

// cut shortens a text to a width by an ellipsis in its middle: the end of a route
// or of a statement often tells it from others.
func cut(text string, width float64) string {
	if textWidth(text) <= width {
		return text
	}
	runes := []rune(text)
	for keep := len(runes) - 1; keep > 1; keep-- {
		head := (keep*2 + 2) / 3
		short := string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
		if textWidth(short) <= width {
			return short
		}
	}
	return "…"
}

// ticks returns round values that cover lo to hi in about n steps.
func ticks(lo, hi float64, n int) []float64 {
	if !(hi > lo) || math.IsInf(hi-lo, 0) || n < 1 {
		return []float64{lo}
	}
	raw := (hi - lo) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= raw {
			step *= m
			break
		}
	}
	var out []float64
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9 && len(out) < 50; i++ {
		out = append(out, i*step+0) // not -0
	}
	return out
}
