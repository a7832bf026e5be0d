package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/stats"
)

// priceAim is the share of the score that the default set may cost.
const priceAim = 0.03

// priceLevel is the level of the intervals.
const priceLevel = 0.95

// A pricePair is two runs of the same offered work.
type pricePair struct{ observed, bare priceRun }

// A priceList is what --price prints; --json prints it as it is.
type priceList struct {
	Version int            `json:"version"`
	Arena   string         `json:"arena"`
	Seed    uint64         `json:"seed"`
	Load    time.Duration  `json:"load_ns"`
	Pairs   int            `json:"pairs"` // asked for, per sensor
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
	// Left are pairs whose scores may not be compared, and why.
	Left []string `json:"left_out,omitempty"`
	Says string   `json:"says"`
}

// A cost is a ratio with its spread over pairs.
type cost struct {
	Logs   []float64        `json:"logs"`   // ln(observed/bare) of each pair
	Spread float64          `json:"spread"` // standard deviation of those
	Ratio  iikanji.Interval `json:"ratio"`
}

// add takes a pair's numbers, those that may be believed.
func (p *sensorPrice) add(pair pricePair) {
	a, b := pair.observed, pair.bare
	if a.score > 0 && b.score > 0 {
		p.Score.Logs = append(p.Score.Logs, math.Log(a.score/b.score))
	} else {
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

// settle makes intervals of the pairs. Few pairs know little of their noise:
// each sensor borrows what the others' pairs know, as their runs are alike.
func (l *priceList) settle() {
	settle := func(of func(p *sensorPrice) *cost) {
		for i, p := range l.Sensors {
			var others [][]float64
			for j, q := range l.Sensors {
				if i != j {
					others = append(others, of(q).Logs)
				}
			}
			of(p).settle(stats.NoisePrior(others...))
		}
	}
	settle(func(p *sensorPrice) *cost { return &p.Score })
	settle(func(p *sensorPrice) *cost { return &p.CPU })
	for _, p := range l.Sensors {
		p.Says = p.verdict()
	}
}

// settle leaves the zero interval where nothing is known of the noise.
func (c *cost) settle(prior stats.Prior) {
	c.Spread = stats.SD(c.Logs)
	m := stats.Moderate(c.Logs, prior)
	if m.N == 0 || m.DF <= 0 {
		return
	}
	alpha := (1 - priceLevel) / 2
	c.Ratio = iikanji.Interval{Mid: math.Exp(m.Mean), Lo: math.Exp(m.Lower(alpha)), Hi: math.Exp(m.Upper(alpha)), Level: priceLevel}
}

func (c *cost) known() bool { return c.Ratio.Level > 0 }

// verdict says whether a sensor may be on in runs whose score is used: by the
// score where it can tell, else by the CPU per request, which is less noisy.
// On a stack that is short of CPU, x % more of it per request is about x % less
// of the score; on any other it is less.
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

// write prints the table for people.
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

// cells are a cost in percent: change, its interval, and the spread of pairs.
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
			if _, err := fmt.Fprintf(w, "%s: a pair's scores are left out: %s\n", p.Sensor, why); err != nil {
				return err
			}
		}
	}
	return nil
}
