package web

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/show/chart"
)

// spark draws the latest scores of a team in one line: failed runs are gaps at the bottom.
func spark(scores []float64) template.HTML {
	if len(scores) < 2 {
		return ""
	}
	const width, height, edge = 96.0, 24.0, 2.0
	top := 1.0
	for _, s := range scores {
		top = math.Max(top, s)
	}
	var points, fails strings.Builder
	for i, s := range scores {
		x := edge + (width-2*edge)*float64(i)/float64(len(scores)-1)
		y := height - edge - (height-2*edge)*math.Max(0, s)/top
		if s <= 0 {
			fmt.Fprintf(&fails, `<circle cx="%.1f" cy="%.1f" r="1.5"/>`, x, y)
		}
		fmt.Fprintf(&points, "%.1f,%.1f ", x, y)
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 %g %g" width="%g" height="%g" aria-hidden="true" focusable="false"><polyline points="%s"/>%s</svg>`,
		width, height, width, height, strings.TrimSpace(points.String()), fails.String())) // numbers only
}

// mostLines is how many teams a chart has: as many as there are colours.
const mostLines = 6

// mostGhosts is how many ghosts a chart has.
const mostGhosts = 3

// scores draws the scores of teams over the time of play, each as steps: a score stands until
// the next run. Ghosts are dashed.
func (p page) scores(lines []board.Series, minutes float64, ghosts ...board.GhostLine) template.HTML {
	plot := &chart.Plot{Title: p.T("chart.title"), Desc: p.T("chart.desc"), YName: p.T("score"), Format: p.Score, XLo: 0, XHi: math.Max(1, minutes), Height: 280}
	shapes := []chart.Shape{chart.Dot, chart.Up, chart.Square, chart.Diamond, chart.Down, chart.Ring}
	for i, l := range lines[:min(len(lines), mostLines)] {
		p.steps(plot, chart.Series{Colour: chart.Colour(i + 1), Line: true, Bare: true}, l.Points)
		marks := chart.Series{Name: l.Name, Colour: chart.Colour(i + 1), Shape: shapes[i]} // of runs, not of corners
		for _, at := range l.Points {
			marks.Points = append(marks.Points, chart.Point{X: at.Minute, Y: at.Score, Title: fmt.Sprintf("%s: %s", l.Name, p.Score(at.Score))})
		}
		plot.Series = append(plot.Series, marks)
	}
	for i, g := range ghosts[:min(len(ghosts), mostGhosts)] {
		s := chart.Series{Name: p.T("ghost.of", g.Name), Colour: chart.Grey - chart.Colour(i), Line: true, Bare: true, Dashed: true}
		points := g.Points
		if n := len(points); n > 0 && !g.Ended && minutes > points[n-1].Minute { // it stands there now
			points = append(slices.Clone(points), board.Point{Minute: minutes, Score: points[n-1].Score})
		}
		p.steps(plot, s, points)
	}
	plot.XTicks = hourTicks(plot.XHi)
	return drawn(plot)
}

// steps adds a line of steps to a plot.
func (page) steps(plot *chart.Plot, s chart.Series, points []board.Point) {
	for k, at := range points {
		if k > 0 && at.Minute > points[k-1].Minute {
			s.Points = append(s.Points, chart.Point{X: at.Minute, Y: points[k-1].Score})
		}
		s.Points = append(s.Points, chart.Point{X: at.Minute, Y: at.Score})
		plot.XHi = math.Max(plot.XHi, at.Minute)
	}
	plot.Series = append(plot.Series, s)
}

// drawn is a chart in two widths, of which the style sheet shows one: its text keeps its size.
func drawn(plot *chart.Plot) template.HTML {
	ticks := plot.XTicks
	roomy := plot.At(1000)
	for len(plot.XTicks) > 5 { // a narrow one has room for half of the labels
		var half []chart.Tick
		for i, t := range plot.XTicks {
			if i%2 == 0 {
				half = append(half, t)
			}
		}
		plot.XTicks = half
	}
	narrow := plot.At(440)
	plot.XTicks = ticks
	return `<div class="roomy">` + roomy + `</div><div class="narrow">` + narrow + `</div>`
}

// hourTicks are labels of the time of play.
func hourTicks(minutes float64) (ticks []chart.Tick) {
	step := 60.0
	for _, s := range []float64{1, 5, 10, 30, 60, 120, 360, 1440} {
		if step = s; minutes/s <= 9 {
			break
		}
	}
	for x := 0.0; x <= minutes && len(ticks) < 12; x += step {
		ticks = append(ticks, chart.Tick{X: x, Label: fmt.Sprintf("%d:%02d", int(x)/60, int(x)%60)})
	}
	return ticks
}

// growth draws the points of a run by second.
func (p page) growth(points []float64) template.HTML {
	if len(points) < 2 {
		return ""
	}
	plot := &chart.Plot{Title: p.T("growth.title"), Desc: p.T("growth.desc"), YName: p.T("score"), Format: p.Score, XLo: 0, XHi: float64(len(points) - 1), Height: 200}
	s := chart.Series{Name: p.T("score"), Colour: chart.Blue, Line: true, Bare: true}
	for i, y := range points {
		s.Points = append(s.Points, chart.Point{X: float64(i), Y: y})
	}
	plot.Series = []chart.Series{s}
	step := math.Max(1, math.Ceil(plot.XHi/6))
	for x := 0.0; x <= plot.XHi; x += step {
		plot.XTicks = append(plot.XTicks, chart.Tick{X: x, Label: fmt.Sprintf("%.0f s", x)})
	}
	return drawn(plot)
}
