package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"testing"
)

// check parses a chart as XML and returns its elements by name.
func check(t *testing.T, drawn template.HTML) map[string]int {
	t.Helper()
	count := map[string]int{}
	for dec := xml.NewDecoder(strings.NewReader(string(drawn))); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return count
		} else if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, drawn)
		}
		if e, ok := tok.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("attribute %s=%q", a.Name.Local, a.Value)
				}
			}
		}
	}
}

const hostile = "</svg><script>alert(1)</script>\" onload=\"x\u202e\x00"

func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

func plotOf(points ...Point) *Plot {
	return &Plot{Title: hostile, YName: "score", Format: whole, XLo: 0, XHi: 10, Width: 400, Height: 100,
		XTicks: []Tick{{1, hostile}, {9, "9"}}, Spans: []Span{{From: 1, To: 3, Shape: Up, Colour: Blue, Label: "1", Title: hostile}},
		Series: []Series{{Name: hostile, Colour: Orange, Shape: Square, Line: true, Points: points}}}
}

// TestPlot: every point has its mark and its hover title, at the right place.
func TestPlot(t *testing.T) {
	svg := plotOf(Point{X: 0, Y: 100, Title: "first"}, Point{X: 10, Y: 0, Lo: 0, Hi: 50, Title: "second"}).SVG()
	n := check(t, svg)
	if n["title"] != 3 || n["polyline"] != 1 || n["polygon"] != 4 { // two points, a span, and the legend
		t.Errorf("%v in %s", n, svg)
	}
	// The first point is at the left edge, the second at the right one, on the axis.
	if !strings.Contains(string(svg), `points="62,38.8 388,134 "`) {
		t.Errorf("the line is elsewhere: %s", svg)
	}
	if strings.Contains(string(svg), "<script") {
		t.Error("text became an element")
	}
}

// TestStrange: values that are not numbers, or none at all, draw a chart.
func TestStrange(t *testing.T) {
	check(t, plotOf().SVG())
	check(t, plotOf(Point{X: math.NaN(), Y: math.Inf(1)}, Point{X: 1, Y: -5, Lo: math.Inf(-1), Hi: 3}).SVG())
	check(t, (&Plot{Format: whole, Width: 10, Height: 10}).SVG())
	check(t, (&Pairs{Format: whole, Width: 300, Rows: []PairRow{{Label: hostile, A: -1, B: math.NaN()}}}).SVG())
	check(t, (&Forest{Format: whole, Width: 300}).SVG())
	check(t, (&Forest{Format: whole, Width: 300, Rows: []Effect{{Label: hostile, Mid: 1, Lo: math.Inf(-1), Hi: math.Inf(1), Bounded: true}}}).SVG())
}

// TestForestCut: an interval that the axis cuts off ends in an arrow, another one in a bar.
func TestForestCut(t *testing.T) {
	svg := string((&Forest{Format: whole, Width: 600, Rows: []Effect{{Label: "a", Mid: 5, Lo: 1, Hi: 9, Bounded: true}, {Label: "b", Mid: 4, Lo: 2, Hi: 500, Bounded: true}}}).SVG())
	check(t, template.HTML(svg))
	upright, slanted := 0, 0
	for _, part := range strings.Split(svg, `<line class="bound`)[1:] {
		var k int
		var x1, y1, x2, y2 float64
		if _, err := fmt.Sscanf(part, ` k%d" x1="%f" y1="%f" x2="%f" y2="%f"/>`, &k, &x1, &y1, &x2, &y2); err != nil {
			t.Fatalf("%v in %.80s", err, part)
		}
		if x1 == x2 {
			upright++
		} else if y1 != y2 {
			slanted++
		}
	}
	if upright != 3 || slanted != 2 {
		t.Errorf("%d bars and %d lines of arrows, want 3 and 2", upright, slanted)
	}
}

// TestPairs: a bar is as long as its value, and an unknown one is named.
func TestPairs(t *testing.T) {
	svg := string((&Pairs{Format: whole, Width: 600, Names: [2]string{"before", "after"}, Rows: []PairRow{{Label: "商品", A: 100, B: 50, Title: "x"}, {Label: "b", A: -1, B: 25}}}).SVG())
	check(t, template.HTML(svg))
	var widths []float64
	for _, part := range strings.Split(svg, "<rect ")[3:] { // behind those of the legend
		var w float64
		_, after, _ := strings.Cut(part, `width="`)
		if _, err := fmt.Sscanf(after, "%f", &w); err != nil {
			t.Fatal(err)
		}
		widths = append(widths, w)
	}
	if len(widths) != 3 || math.Abs(widths[1]*2-widths[0]) > 0.2 || math.Abs(widths[2]*4-widths[0]) > 0.2 {
		t.Errorf("widths %v, want 100:50:25", widths)
	}
	if strings.Count(svg, "not known") != 1 || !strings.Contains(svg, "商品") {
		t.Error(svg)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{{0, 10, 5, "[0 2 4 6 8 10]"}, {-3, 3, 3, "[-2 0 2]"}, {5, 5, 3, "[5]"}, {0, math.Inf(1), 3, "[0]"}, {0, 0.3, 3, "[0 0.1 0.2 0.30000000000000004]"}} {
		if got := fmt.Sprint(ticks(c.lo, c.hi, c.n)); got != c.want {
			t.Errorf("ticks(%g, %g, %d) = %s, want %s", c.lo, c.hi, c.n, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width float64
		want  string
	}{{"short", 100, "short"}, {"a long route name", 70, "a long…ame"}, {"日本語の長い名前", 50, "日本…前"}, {"x", 1, "…"}} {
		if got := cut(c.text, c.width); got != c.want || textWidth(got) > max(c.width, 6.6) {
			t.Errorf("cut(%q, %g) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// TestColours: the style sheet has every colour for light, dark and print, and text
// has a contrast of 4.5 or more on both pages.
func TestColours(t *testing.T) {
	for c := Blue; c <= Grey; c++ {
		if n := strings.Count(CSS, fmt.Sprintf("--c%d:#", c)); n != 3 {
			t.Errorf("colour %d is defined %d times, want 3", c, n)
		}
	}
	light, rest, _ := strings.Cut(CSS, "@media (prefers-color-scheme:dark)")
	dark, _, _ := strings.Cut(rest, "@media print")
	for name, css := range map[string]string{"light": light, "dark": dark} {
		page := luminance(t, css, "page")
		for _, colour := range []string{"ink", "dim", "c1", "c2", "c3", "c4", "c5", "c6"} {
			l := luminance(t, css, colour)
			if ratio := (max(l, page) + 0.05) / (min(l, page) + 0.05); ratio < 4.5 {
				t.Errorf("%s: %s has a contrast of %.2f on the page", name, colour, ratio)
			}
		}
	}
}

// luminance is the relative luminance of a variable, by the formula of WCAG 2.
func luminance(t *testing.T, css, name string) float64 {
	t.Helper()
	_, after, ok := strings.Cut(css, "--"+name+":#")
	var rgb [3]int
	if _, err := fmt.Sscanf(after, "%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2]); err != nil || !ok {
		t.Fatalf("--%s: %v", name, err)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(rgb[i]) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
