package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/selftest"
)

// searches simulates the searches of each kind, and with --full the goals.
func (c *selftestCmd) searches(ctx context.Context, e *env, rep *selftestReport) error {
	if c.Searches < 1 || c.Searches > 1_000_000 {
		return usageError("--searches %d: from 1 to 1000000", c.Searches)
	}
	began := e.Now()
	kinds := selftest.Searches()
	p := progress{e: e, last: began}
	done := 0
	for i := range kinds {
		t, err := kinds[i].Simulate(ctx, c.Seed, c.Searches, nil)
		if err != nil {
			return err
		}
		done += c.Searches
		p.show(done, len(kinds)*c.Searches, began)
		rep.Searches = append(rep.Searches, t)
	}
	p.clear()
	if !c.Full {
		return nil
	}
	goals, err := selftest.Goals(ctx, c.Seed, c.Scale, func(line string) {
		if e.TTY {
			fmt.Fprintf(e.Stderr, "\r\x1b[Kmeasuring: %s", line)
			p.any = true
		}
	})
	p.clear()
	rep.Goals = goals
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("measuring the goals: %w", err)
	}
	return err
}

func (r *selftestReport) countSearches() int {
	n := 0
	for _, t := range r.Searches {
		n += t.Searches
	}
	for _, g := range r.Goals {
		n += g.Searches
	}
	return n
}

// printSearches prints the tables of searches and goals.
func printSearches(e *env, rep *selftestReport) error {
	fmt.Fprint(e.Stdout, "\nWhole searches of the tuner on a simulated site, means of one search: changes in\n"+
		"force at the end, the harm of harmful ones, the share of the good effect that was\nfound, false keeps that the search expects\n\n")
	t := &report.Table{Columns: []report.Column{{Name: "search", Left: true, Shrink: true}, {Name: "no effect"}, {Name: "harmful"},
		{Name: "harm"}, {Name: "good found"}, {Name: "effect"}, {Name: "expected"}, {Name: "covers"}, {Name: "headline"}, {Name: "runs"}}}
	for _, s := range rep.Searches {
		n := float64(s.Searches)
		good := "-"
		effect := "-"
		if all := s.Good + s.Missed; all > 0 {
			good = fmt.Sprintf("%.1f of %.0f", float64(s.Good)/n, float64(all)/n)
			effect = fmt.Sprintf("%.0f %%", 100*s.Gain/s.Possible)
		}
		t.Rows = append(t.Rows, []string{s.Name, fmt.Sprintf("%.2f", float64(s.Null)/n), fmt.Sprintf("%.2f", float64(s.Harmful)/n),
			fmt.Sprintf("%.2f %%", 100*-math.Expm1(-s.Harm/n)), good, effect, fmt.Sprintf("%.2f", s.Expected/n),
			ofText(s.Inside, s.Changes), ofText(s.Covered, s.Compared), fmt.Sprintf("%.0f", float64(s.Runs)/n)})
	}
	if err := t.Write(e.Stdout, report.Text, e.Cols); err != nil {
		return err
	}
	if len(rep.Goals) == 0 {
		return nil
	}
	fmt.Fprint(e.Stdout, "\nGoals, each with its 95 % interval\n\n")
	g := &report.Table{Columns: []report.Column{{Name: "what", Left: true, Shrink: true}, {Name: "goal"}, {Name: "measured", Left: true}, {Name: "ok", Left: true}}}
	for _, x := range rep.Goals {
		g.Rows = append(g.Rows, []string{x.What, x.Goal, x.Measured, map[bool]string{true: "ok", false: "MISSED"}[x.OK]})
	}
	return g.Write(e.Stdout, report.Text, e.Cols)
}

// ofText is the share k of n in percent; "-" for n = 0.
func ofText(k, n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(k)/float64(n))
}
