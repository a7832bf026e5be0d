package document

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/chart"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
)

// A Figure is a chart in two widths, for wide and for narrow screens.
type Figure struct {
	Title        string
	Wide, Narrow template.HTML
}

// Widths of a figure, in the units of the drawing.
const (
	wideWidth   = 920
	narrowWidth = 360
)

// NewFigure draws a chart in both widths.
func NewFigure(title string, draw func(width float64) template.HTML) *Figure {
	return &Figure{Title: title, Wide: draw(wideWidth), Narrow: draw(narrowWidth)}
}

// look is the mark of a result: its shape and its colour.
func look(result string) (chart.Shape, chart.Colour) {
	switch result {
	case "keep":
		return chart.Up, chart.Blue
	case "provisional":
		return chart.OpenUp, chart.Blue
	case "revert", "dropped", "undone":
		return chart.Down, chart.Orange
	}
	return chart.Diamond, chart.Purple
}

// mostPanels bounds the panels of runs with different loads.
const mostPanels = 3

// mostTitles bounds the runs that have hover titles: each is a hundred bytes. The
// table of runs has the same data.
const mostTitles = 600

// ScoreFigures draw the score of all runs in their order: one figure for each
// length of load, because scores of different lengths do not compare. link returns
// the address of a run's page; it is nil where runs have none.
func ScoreFigures(s *summary.Summary, link func(iikanji.RunID) string) (figures []*Figure) {
	loads := loadsOf(s)
	for i, l := range loads {
		if i == mostPanels {
			break
		}
		title := fmt.Sprintf("Score of runs with %s of load", load(l))
		figures = append(figures, NewFigure(title, func(width float64) template.HTML { return scorePlot(s, l, i == 0, title, width, link) }))
	}
	return figures
}

// loadsOf are the lengths of load, in whole seconds, the most frequent first. Lengths that
// compare are one: those of an outside benchmarker are measured, and differ a little.
func loadsOf(s *summary.Summary) []time.Duration {
	count := map[time.Duration]int{}
	for _, r := range s.Runs {
		if r.Clean {
			count[r.Load.Round(time.Second)]++
		}
	}
	frequent := func(a, b time.Duration) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) }
	var loads []time.Duration
	for _, l := range slices.SortedFunc(maps.Keys(count), frequent) {
		if i := slices.IndexFunc(loads, func(have time.Duration) bool { return summary.SameLoad(have, l) }); i >= 0 {
			count[loads[i]] += count[l]
			continue
		}
		loads = append(loads, l)
	}
	slices.SortFunc(loads, frequent)
	return loads
}

// A scoreKind is the series that a run is drawn in.
type scoreKind struct {
	name   string
	shape  chart.Shape
	colour chart.Colour
}

var (
	unchangedKind = scoreKind{"untouched site", chart.Ring, chart.Grey}
	withoutKind   = scoreKind{"incumbent", chart.Ring, chart.Blue}
	withKind      = scoreKind{"with the candidate", chart.Dot, chart.Orange}
	finalKind     = scoreKind{"final site", chart.Square, chart.Green}
	observedKind  = scoreKind{"observed: not compared", chart.Diamond, chart.Grey}
	singleKind    = scoreKind{"other run", chart.Dot, chart.Blue}
	invalidKind   = scoreKind{"no valid score", chart.Cross, chart.Orange}
	scoreKinds    = []scoreKind{unchangedKind, withoutKind, withKind, finalKind, singleKind, observedKind, invalidKind}
)

func kindOf(r *summary.Run) scoreKind {
	if !r.Clean {
		return invalidKind
	}
	switch r.Part {
	case summary.PartCalibration, summary.PartUntouched:
		return unchangedKind
	case summary.PartWithout:
		return withoutKind
	case summary.PartWith:
		return withKind
	case summary.PartFinal:
		return finalKind
	case summary.PartObserved:
		return observedKind
	}
	return singleKind
}

// scorePlot draws the runs with one load. The first panel also has the runs
// without a valid score.
func scorePlot(s *summary.Summary, l time.Duration, first bool, title string, width float64, link func(iikanji.RunID) string) template.HTML {
	p := &chart.Plot{Title: title, Desc: "The table of runs has the same numbers.", YName: "score", Format: Points, XLo: 0, XHi: float64(len(s.Runs) + 1), Width: width, Height: 260}
	byKind := map[scoreKind]*chart.Series{}
	at := map[iikanji.RunID]float64{}
	for i := range s.Runs {
		r := &s.Runs[i]
		x := float64(i + 1)
		here := summary.SameLoad(r.Load, l)
		if !here && (r.Clean || !first || !r.Saved) {
			continue
		}
		at[r.ID] = x
		kind := kindOf(r)
		if byKind[kind] == nil {
			byKind[kind] = &chart.Series{Name: kind.name, Shape: kind.shape, Colour: kind.colour}
		}
		pt := chart.Point{X: x, Y: r.Score}
		if !r.Clean {
			pt.Y = 0
		}
		if len(s.Runs) <= mostTitles {
			pt.Title = runTitle(r)
			if link != nil {
				pt.Href = link(r.ID)
			}
		}
		byKind[kind].Points = append(byKind[kind].Points, pt)
	}
	for _, kind := range scoreKinds {
		if series := byKind[kind]; series != nil {
			p.Series = append(p.Series, *series)
		}
	}
	p.XTicks = runTicks(s)
	addTrials(p, s, at)
	return p.SVG()
}

func runTitle(r *summary.Run) string {
	text := fmt.Sprintf("run %d, %s UTC, %s", r.ID, r.Began.UTC().Format(time.TimeOnly), r.Part)
	if r.Trial > 0 {
		text += fmt.Sprintf(", trial %d", r.Trial)
	}
	if r.Clean {
		text += ": score " + Points(r.Score)
	} else {
		text += ": " + r.Outcome.String()
	}
	if len(r.With) > 0 {
		text += "; changes applied: " + numbers(r.With)
	}
	return text
}

// runTicks label runs with their number and time.
func runTicks(s *summary.Summary) (ticks []chart.Tick) {
	step := max(1, (len(s.Runs)+11)/12)
	for i := 0; i < len(s.Runs); i += step {
		r := s.Runs[i]
		ticks = append(ticks, chart.Tick{X: float64(i + 1), Label: fmt.Sprintf("%d · %s", r.ID, r.Began.UTC().Format("15:04"))})
	}
	return ticks
}

// addTrials marks the runs of each trial and draws its effect, as the score that
// the verdict expects of the incumbent with the change, with its interval.
func addTrials(p *chart.Plot, s *summary.Summary, at map[iikanji.RunID]float64) {
	effects := map[string]*chart.Series{}
	var order []string
	for i := range s.Trials {
		t := &s.Trials[i]
		from, to := trialSpan(s, t, at)
		if !t.Tried() || to == 0 {
			continue
		}
		shape, colour := look(t.Result)
		title := trialTitle(t)
		p.Spans = append(p.Spans, chart.Span{From: from - 0.5, To: to + 0.5, Shape: shape, Colour: colour, Label: strconv.Itoa(t.N), Title: title})
		v := t.Verdict.Effect
		if v.Level == 0 || t.Base == 0 {
			continue
		}
		if effects[t.Result] == nil {
			effects[t.Result] = &chart.Series{Name: "verdict: " + ResultWord(t.Result), Shape: shape, Colour: colour}
			order = append(order, t.Result)
		}
		of := func(d float64) float64 { return t.Base * math.Exp(d) }
		effects[t.Result].Points = append(effects[t.Result].Points, chart.Point{X: to + 0.35, Y: of(v.Mid), Lo: of(v.Lo), Hi: of(min(v.Hi, v.Mid+1)), Title: title})
	}
	for _, result := range order {
		p.Series = append(p.Series, *effects[result])
	}
}

// trialSpan is the first and the last position of the runs with a trial's
// candidate; 0, 0 if they are not in the plot.
func trialSpan(s *summary.Summary, t *summary.Trial, at map[iikanji.RunID]float64) (from, to float64) {
	for _, r := range s.Runs {
		x, ok := at[r.ID]
		if !ok || r.Trial != t.N || r.Part != summary.PartWith {
			continue
		}
		if from == 0 {
			from = x
		}
		to = x
	}
	return from, to
}

func trialTitle(t *summary.Trial) string {
	text := fmt.Sprintf("trial %d, %s: %s", t.N, ResultWord(t.Result), t.Says)
	if t.Verdict.Effect.Level > 0 {
		text += ": " + Effect(t.Verdict.Effect)
	}
	return text
}

// mostLinear is the effect on ln(score) up to which effects are drawn in percent. Beside
// a larger one, the others would be points at zero.
const mostLinear = 1.4

// effectScale returns the position of an effect on the axis, and the text of a position:
// percent, or, with a large effect, factors on a logarithmic axis.
func effectScale(trials []summary.Trial) (at func(effect float64) float64, text func(at float64) string) {
	for i := range trials {
		if trials[i].Tried() && math.Abs(trials[i].Verdict.Effect.Mid) > mostLinear {
			return func(d float64) float64 { return d / math.Ln2 }, func(v float64) string { return "× " + report.Factor(math.Exp2(v)) }
		}
	}
	return func(d float64) float64 { return 100 * math.Expm1(d) }, func(v float64) string { return fmt.Sprintf("%+.0f %%", v) }
}

// TrialsFigure draws the effects of all trials.
func TrialsFigure(s *summary.Summary) *Figure {
	f := chart.Forest{Title: "Effect of each trial on the score", Desc: "The table of trials has the same numbers."}
	var scale func(effect float64) float64
	scale, f.Format = effectScale(s.Trials)
	for i := range s.Trials {
		t := &s.Trials[i]
		if !t.Tried() {
			continue
		}
		shape, colour := look(t.Result)
		v := t.Verdict.Effect
		f.Rows = append(f.Rows, chart.Effect{Label: fmt.Sprintf("%d %s: %s", t.N, ResultWord(t.Result), t.Says), Mid: scale(v.Mid), Lo: scale(v.Lo), Hi: scale(v.Hi), Bounded: v.Level > 0, Shape: shape, Colour: colour, Title: trialTitle(t)})
	}
	if len(f.Rows) == 0 {
		return nil
	}
	return NewFigure(f.Title, func(width float64) template.HTML { f.Width = width; return f.SVG() })
}

// mostBars bounds the rows of a chart of pairs.
const mostBars = 12

// PairsFigure draws the heaviest rows of a comparison; names are those of both sides.
func PairsFigure(title string, names [2]string, c summary.Comparison) *Figure {
	p := chart.Pairs{Title: title, Desc: "The table below has the same numbers.", Names: names,
		Format: func(ms float64) string { return report.Duration(time.Duration(ms * 1e6)) }}
	for i, r := range c.Rows {
		if i == mostBars {
			break
		}
		row := chart.PairRow{Label: r.Key, A: -1, B: -1, Title: fmt.Sprintf("%s: %s", r.Key, difference(r))}
		if r.A.Known {
			row.A = r.A.Mean
		}
		if r.B.Known {
			row.B = r.B.Mean
		}
		p.Rows = append(p.Rows, row)
	}
	if len(p.Rows) == 0 || c.After == "" {
		return nil
	}
	return NewFigure(title, func(width float64) template.HTML { p.Width = width; return p.SVG() })
}
