package ui

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/show/chart"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/show/timeline"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// A lane is one run of a chart with its name; of two runs, the first is drawn
// orange and the second blue.
type lane struct {
	name    string
	seconds *timeline.Seconds
	detail  *summary.Detail
}

// secondsFigures draw the seconds of one run, or of two runs on one time axis.
func secondsFigures(a *timeline.Seconds, da *summary.Detail, b *timeline.Seconds, db *summary.Detail) []*document.Figure {
	lanes := []lane{{"", a, da}}
	if db != nil {
		lanes = []lane{{fmt.Sprintf("run %d: ", da.Run.ID), a, da}, {fmt.Sprintf("run %d: ", db.Run.ID), b, db}}
	}
	end := 1.0
	for _, l := range lanes {
		end = max(end, float64(l.length()))
	}
	axis := func(title, desc, y string, format func(float64) string) chart.Plot {
		p := chart.Plot{Title: title, Desc: desc, YName: y, Format: format, XLo: 0, XHi: end, Height: 120}
		step := max(1, math.Ceil(end/12))
		for x := 0.0; x <= end; x += step {
			p.XTicks = append(p.XTicks, chart.Tick{X: x, Label: fmt.Sprintf("%g s", x)})
		}
		return p
	}
	var figures []*document.Figure
	add := func(p chart.Plot) {
		if len(p.Series)+len(p.Bands) > 0 {
			figures = append(figures, document.NewFigure(p.Title, p.At))
		}
	}
	const table = "The table of seconds has the same numbers."
	throughput := axis("Answers and errors per second", table, "per second", report.Short)
	latency := axis("Latency: median, and the bands to the 95th and 99th percentile", table, "ms", milliseconds)
	query := axis("Time of statements per second", table, "s", oneDecimal)
	cpu := axis("CPU by service", "In cores.", "cores", oneDecimal)
	for i, l := range lanes {
		colour, bad := chart.Blue, chart.Orange
		if len(lanes) == 2 {
			colour = []chart.Colour{chart.Orange, chart.Blue}[i]
			bad = colour
		}
		if s := l.seconds; s != nil && len(s.Answers) > 0 {
			throughput.Series = append(throughput.Series, lineOf(l.name+"answers", colour, chart.Dot, s.Answers))
			throughput.Series = append(throughput.Series, lineOf(l.name+"errors", bad, chart.Cross, s.Errors))
			if len(lanes) == 1 {
				latency.Bands = append(latency.Bands, bandOf("95th to 99th", chart.Purple, s.P95, s.P99), bandOf("median to 95th", chart.Blue, s.P50, s.P95))
				latency.Series = append(latency.Series, lineOf("median", chart.Blue, chart.Dot, s.P50))
			} else {
				latency.Bands = append(latency.Bands, bandOf(l.name+"median to 95th", colour, s.P50, s.P95))
				latency.Series = append(latency.Series, lineOf(l.name+"median", colour, pairShape(i, len(lanes)), s.P50))
			}
			if s.Query != nil {
				query.Series = append(query.Series, lineOf(l.name+"statements", colour, pairShape(i, len(lanes)), s.Query))
			}
		}
		cpu.Series = append(cpu.Series, l.cpu(i, len(lanes))...)
	}
	for _, p := range []chart.Plot{throughput, latency, cpu, query} {
		add(p)
	}
	return figures
}

// pairShape is the mark of a run: a ring for the first of two, otherwise a dot.
func pairShape(i, of int) chart.Shape {
	if of == 2 && i == 0 {
		return chart.Ring
	}
	return chart.Dot
}

// length is the number of seconds of a lane.
func (l *lane) length() int {
	n := int(l.detail.Run.Took / time.Second)
	if l.seconds != nil {
		n = max(n, l.seconds.Length())
	}
	return n
}

// serviceLooks are the marks of services.
var serviceLooks = []struct {
	colour chart.Colour
	shape  chart.Shape
}{{chart.Blue, chart.Dot}, {chart.Orange, chart.Up}, {chart.Green, chart.Square}, {chart.Purple, chart.Diamond}, {chart.Yellow, chart.Down}, {chart.Grey, chart.Ring}}

// cpu are the lines of the services with the most CPU time. Two runs share the time
// axis.
func (l *lane) cpu(i, of int) (series []chart.Series) {
	services, at := l.services()
	slices.SortStableFunc(services, func(a, b summary.ServiceSeries) int { return cmp.Compare(sum(b.Cores), sum(a.Cores)) })
	for n, s := range services[:min(len(services), len(serviceLooks))] {
		look := serviceLooks[n]
		x := chart.Series{Name: l.name + s.Name, Colour: look.colour, Shape: look.shape, Line: true}
		if of == 2 { // the colour is the run, the mark is the service
			if x.Colour = chart.Orange; i == 1 {
				x.Colour = chart.Blue
			}
			if n > 2 {
				break
			}
		}
		for j, v := range s.Cores {
			if at := at(j); at >= 0 {
				x.Points = append(x.Points, chart.Point{X: at, Y: v, Title: fmt.Sprintf("%s%s, second %.0f: %.2f cores", l.name, s.Name, at, v)})
			}
		}
		if len(x.Points) > 0 {
			series = append(series, x)
		}
	}
	return series
}

// services are the samples of the services, with the second of each sample: those of
// the machine, or those that were kept with the seconds.
func (l *lane) services() (services []summary.ServiceSeries, at func(i int) float64) {
	host := l.detail.Host
	if host == nil || len(host.At) == 0 {
		if l.seconds != nil {
			for _, s := range l.seconds.CPU {
				services = append(services, summary.ServiceSeries{Name: s.Name, Cores: s.Cores})
			}
		}
		return services, func(i int) float64 { return float64(i + 1) }
	}
	from := host.At[0]
	if l.seconds != nil {
		from = l.seconds.From
	}
	return slices.Clone(host.Services), func(i int) float64 { return host.At[i].Sub(from).Seconds() }
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// lineOf is a line with a point in the middle of each second.
func lineOf(name string, colour chart.Colour, shape chart.Shape, values []float64) chart.Series {
	s := chart.Series{Name: name, Colour: colour, Shape: shape, Line: true}
	for i, v := range values {
		s.Points = append(s.Points, chart.Point{X: float64(i) + 0.5, Y: v, Title: fmt.Sprintf("%s, second %d: %.4g", name, i+1, v)})
	}
	return s
}

func bandOf(name string, colour chart.Colour, lo, hi []float64) chart.Band {
	b := chart.Band{Name: name, Colour: colour}
	for i := range lo {
		b.Points = append(b.Points, chart.Point{X: float64(i) + 0.5, Lo: lo[i], Hi: hi[i]})
	}
	return b
}

func milliseconds(v float64) string { return report.Duration(time.Duration(v * 1e6)) }
func oneDecimal(v float64) string   { return fmt.Sprintf("%.1f", v) }

// secondsTable has the numbers of the charts.
func secondsTable(s *timeline.Seconds) *Table {
	t := &Table{Name: "seconds", Caption: "The run by second of its load", Columns: []Column{rightColumn("second", "second"), rightColumn("answers", "answers"), rightColumn("errors", "errors"),
		rightColumn("p50", "median"), rightColumn("p95", "95th"), rightColumn("p99", "99th"), rightColumn("query", "time of statements")}}
	for _, v := range s.CPU {
		t.Columns = append(t.Columns, rightColumn("cpu-"+nameKey(v.Name), "CPU of "+v.Name+", cores"))
	}
	for i := range s.Length() {
		query := missing()
		if i < len(s.Query) {
			query = number(s.Query[i], report.Duration(time.Duration(s.Query[i]*1e9)))
		}
		row := []Cell{whole(i + 1), missing(), missing(), missing(), missing(), missing(), query}
		if i < len(s.Answers) {
			row = []Cell{whole(i + 1), whole(int(s.Answers[i])), whole(int(s.Errors[i])), number(s.P50[i], milliseconds(s.P50[i])), number(s.P95[i], milliseconds(s.P95[i])), number(s.P99[i], milliseconds(s.P99[i])), query}
		}
		for _, v := range s.CPU {
			if i < len(v.Cores) {
				row = append(row, number(v.Cores[i], fmt.Sprintf("%.2f", v.Cores[i])))
			} else {
				row = append(row, missing())
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
