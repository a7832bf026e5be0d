package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
	"github.com/iikanji/iikanji/internal/show/report"
)

// priceAim is the largest acceptable cost of the default set, as a share of the score.
const priceAim = 0.03

// priceLevel is the confidence level of the intervals.
const priceLevel = 0.95

// A pricePair is two runs with the same offered work.
type pricePair struct {
	observed, bare priceRun
	void           string // one of the runs was disturbed much more than the other
}

// A priceList is the result of --price, and the document of its --json.
type priceList struct {
	Version int            `json:"version"`
	Arena   string         `json:"arena"`
	Seed    uint64         `json:"seed"`
	Load    time.Duration  `json:"load_ns"`
	Pairs   int            `json:"pairs"` // requested, per sensor
	Runs    int            `json:"runs"`  // made
	Began   time.Time      `json:"began"`
	Took    time.Duration  `json:"took_ns"`
	Sensors []*sensorPrice `json:"sensors"`

	last iikanji.RunID
}

// A sensorPrice is the cost of one sensor, or of a set of them.
type sensorPrice struct {
	Sensor string `json:"sensor"`
	Score  cost   `json:"score"`           // observed / bare
	CPU    cost   `json:"cpu_per_request"` // observed / bare
	// Left has the reason for each pair whose scores cannot be compared.
	Left []string `json:"left_out,omitempty"`
	Says string   `json:"says"`
}

// A cost is a ratio with its spread over pairs.
type cost struct {
	Logs   []float64        `json:"logs"`   // ln(observed/bare) of each pair
	Spread float64          `json:"spread"` // standard deviation of those
	Ratio  iikanji.Interval `json:"ratio"`
}

// add adds the valid numbers of a pair.
func (p *sensorPrice) add(pair pricePair) {
	a, b := pair.observed, pair.bare
	switch {
	case pair.void != "":
		p.Left = append(p.Left, pair.void)
	case a.score > 0 && b.score > 0:
		p.Score.Logs = append(p.Score.Logs, math.Log(a.score/b.score))
	default:
		why := a.why
		if why == "" {
			why = b.why
		}
		p.Left = append(p.Left, why)
	}
	if a.cpu > 0 && b.cpu > 0 {
		p.CPU.Logs = append(p.CPU.Logs, math.Log(a.cpu/b.cpu))
	}
}

// computeIntervals computes the intervals from the pairs. The noise of a few pairs is hard
// to estimate, so the pairs of the other sensors are its prior: their runs are alike.
func (l *priceList) computeIntervals() {
	compute := func(of func(p *sensorPrice) *cost) {
		for i, p := range l.Sensors {
			var others [][]float64
			for j, q := range l.Sensors {
				if i != j {
					others = append(others, of(q).Logs)
				}
			}
			of(p).computeInterval(stats.NoisePrior(others...))
		}
	}
	compute(func(p *sensorPrice) *cost { return &p.Score })
	compute(func(p *sensorPrice) *cost { return &p.CPU })
	for _, p := range l.Sensors {
		p.Says = p.verdict()
	}
}

// computeInterval computes the interval; it stays zero if the noise is not known.
func (c *cost) computeInterval(prior stats.Prior) {
	c.Spread = stats.SD(c.Logs)
	m := stats.Moderate(c.Logs, prior)
	if m.N == 0 || m.DF <= 0 {
		return
	}
	alpha := (1 - priceLevel) / 2
	c.Ratio = iikanji.Interval{Mid: math.Exp(m.Mean), Lo: math.Exp(m.Lower(alpha)), Hi: math.Exp(m.Upper(alpha)), Level: priceLevel}
}

func (c *cost) known() bool { return c.Ratio.Level > 0 }

// verdict compares the cost of a sensor with priceAim: by the score if its interval
// decides, else by the CPU per request, which is less noisy. On a stack that is
// limited by CPU, x % more CPU per request means about x % less score; on any other
// stack it means less.
func (p *sensorPrice) verdict() string {
	least, most := 1-priceAim, 1+priceAim
	switch s, c := p.Score.Ratio, p.CPU.Ratio; {
	case p.Score.known() && s.Lo >= least:
		return fmt.Sprintf("costs %.0f %% or less", 100*priceAim)
	case p.Score.known() && s.Hi < least:
		return fmt.Sprintf("costs over %.0f %%", 100*priceAim)
	case p.CPU.known() && c.Hi <= most:
		return fmt.Sprintf("by CPU: %.0f %% or less", 100*priceAim)
	case p.CPU.known() && c.Lo > most:
		return fmt.Sprintf("by CPU: over %.0f %%", 100*priceAim)
	}
	return "not decided: more pairs"
}

// write prints the list as tables.
func (l *priceList) write(w io.Writer, cols int) error {
	if _, err := fmt.Fprintf(w, "What sensors cost: %s, %d pairs each of observed and bare runs of %s of load,\nseed %d, %d runs in %s\n\n",
		l.Arena, l.Pairs, report.Duration(l.Load), l.Seed, l.Runs, report.Duration(l.Took)); err != nil {
		return err
	}
	for _, part := range []struct {
		head string
		of   func(p *sensorPrice) *cost
	}{
		{"score", func(p *sensorPrice) *cost { return &p.Score }},
		{"CPU per request", func(p *sensorPrice) *cost { return &p.CPU }},
	} {
		t := report.Table{Columns: []report.Column{{Name: part.head, Left: true, Shrink: true}, {Name: "pairs"}, {Name: "change"}, {Name: "from"}, {Name: "to"}, {Name: "spread"}}}
		for _, p := range l.Sensors {
			t.Rows = append(t.Rows, append([]string{p.Sensor}, part.of(p).cells()...))
		}
		if err := t.Write(w, report.Text, cols); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	t := report.Table{Columns: []report.Column{{Name: "in all", Left: true, Shrink: true}, {Name: "verdict", Left: true}}}
	for _, p := range l.Sensors {
		t.Rows = append(t.Rows, []string{p.Sensor, p.Says})
	}
	if err := t.Write(w, report.Text, cols); err != nil {
		return err
	}
	return l.notes(w)
}

// cells returns a cost in percent: change, interval, and the spread of the pairs.
func (c *cost) cells() []string {
	percent := func(ratio float64) string { return fmt.Sprintf("%+.1f%%", 100*(ratio-1)) }
	if !c.known() {
		return []string{fmt.Sprint(len(c.Logs)), "-", "-", "-", "-"}
	}
	return []string{fmt.Sprint(len(c.Logs)), percent(c.Ratio.Mid), percent(c.Ratio.Lo), percent(c.Ratio.Hi), fmt.Sprintf("%.1f%%", 100*c.Spread)}
}

func (l *priceList) notes(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\nchange: observed against bare; from, to: its %.0f %% interval; spread: standard\ndeviation of the pairs. CPU is that of stack and generator together.\n", 100*priceLevel); err != nil {
		return err
	}
	for _, p := range l.Sensors {
		for _, why := range p.Left {
			if _, err := fmt.Fprintf(w, "%s: the scores of a pair are left out: %s\n", p.Sensor, why); err != nil {
				return err
			}
		}
	}
	return nil
}
