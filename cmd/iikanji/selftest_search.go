package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/proof/selftest"
	"github.com/iikanji/iikanji/internal/show/report"
)

// searches simulates the searches of each kind, and with --full the goals.
func (c *selftestCmd) searches(ctx context.Context, e *env, rep *selftestReport) error {
	if c.Searches < 1 || c.Searches > 1_000_000 {
		return usageError("--searches %d: from 1 to 1000000", c.Searches)
	}
	began := e.Now()
	kinds := selftest.Searches()
	p := quickProgress(e)
	done := 0
	for i := range kinds {
		t, err := kinds[i].Simulate(ctx, c.Seed, c.Searches, nil)
		if err != nil {
			return err
		}
		done += c.Searches
		showTrials(e, p, done, len(kinds)*c.Searches, began)
		rep.Searches = append(rep.Searches, t)
	}
	p.Done()
	if !c.Full {
		var err error
		rep.Worlds, err = simulateScenes(ctx, e, quickProgress(e), selftest.QuickScenes(), c.Seed, c.Searches, false)
		return err
	}
	p = report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	full, err := selftest.MeasureAll(ctx, c.Seed, c.Scale, tellLeft(e, p))
	p.Done()
	rep.Goals, rep.Worlds, rep.Costs = full.Goals, full.Rows, full.Costs
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("measuring the goals: %w", err)
	}
	return err
}

// tellLeft shows what is measured, and for how long when the worlds are: they take most of the
// time.
func tellLeft(e *env, p *report.Progress) selftest.Teller {
	var began time.Time
	return func(what string, done, all int) {
		left := ""
		switch {
		case all > 0 && done == 0:
			began = e.Now()
		case all > 0:
			d := time.Duration(float64(e.Now().Sub(began)) * float64(all-done) / float64(done))
			left = fmt.Sprintf(", %s left", report.Duration(d.Round(time.Second)))
		}
		p.Status("measuring: %s%s", what, left)
	}
}

func (r *selftestReport) countSearches() int {
	n := 0
	for _, w := range r.Worlds {
		n += w.Searches + w.Errors
	}
	for _, t := range r.Searches {
		n += t.Searches
	}
	for _, g := range r.Goals {
		n += g.Searches
	}
	return n
}

// printSearches prints the results of searches, and the goals. The names are long:
// each has a line of its own.
func printSearches(e *env, rep *selftestReport) error {
	var b strings.Builder
	b.WriteString("\nWhole searches of the tuner on a simulated site, means of one search: changes\n" +
		"in force at the end, the harm of harmful ones, good ones and their share of the\n" +
		"good effect, false keeps that the search expects, intervals that cover the truth\n\n")
	for _, s := range rep.Searches {
		n := float64(s.Searches)
		fmt.Fprintf(&b, "%s\n  no effect %.2f, harmful %.2f, harm %.2f %%", s.Name, float64(s.Null)/n, float64(s.Harmful)/n, 100*-math.Expm1(-s.Harm/n))
		if good := goodText(s); good != "" {
			b.WriteString(", good " + good)
		}
		fmt.Fprintf(&b, "\n  unproven %.2f, covers %s, headline %s, %.0f runs\n", float64(s.Unproven)/n, ofText(s.Inside, s.Changes), ofText(s.Covered, s.Compared), float64(s.Runs)/n)
		if s.Errors > 0 {
			fmt.Fprintf(&b, "  %d of %d ended with an error: %s\n", s.Errors, s.Searches+s.Errors, s.Error)
		}
	}
	o := &output{w: &b}
	o.line("\nSites whose changes interact, few long runs, several searches in a row")
	printWorlds(o, e, rep.scenes(), rep.Worlds)
	if len(rep.Goals) > 0 {
		b.WriteString("\nGoals: goal | measured with its 95 % interval, or ± its standard error | ok\n\n")
	}
	for _, g := range rep.Goals {
		fmt.Fprintf(&b, "%s\n  %s | %s | %s\n", g.What, g.Goal, g.Measured, okText(g.OK))
	}
	_, err := fmt.Fprint(e.Stdout, b.String())
	return err
}

// ofText is the share k of n in percent; "-" for n = 0.
func ofText(k, n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(k)/float64(n))
}
