package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/proof/selftest"
	"github.com/iikanji/iikanji/internal/show/report"
)

// A worldsReport is what selftest --world prints as JSON.
type worldsReport struct {
	Seed uint64         `json:"seed"`
	Took time.Duration  `json:"took_ns"`
	Rows []selftest.Row `json:"rows"`
}

// scenes are those that --world names.
func (c *selftestCmd) scenes() ([]selftest.Scene, error) {
	var all []selftest.Scene
	for _, name := range c.World {
		if name == "all" {
			all = append(all, selftest.Scenes()...)
			continue
		}
		s, err := selftest.FindScene(name)
		if err != nil {
			return nil, usageError("%s", err)
		}
		all = append(all, s)
	}
	found := false
	for i := range all {
		var left []selftest.Search
		for _, s := range all[i].Searches {
			if strings.HasPrefix(s.Name, c.Budget) {
				left = append(left, s)
			}
		}
		all[i].Searches, found = left, found || len(left) > 0
	}
	if !found {
		return nil, usageError("--budget %q: no budget of these worlds begins so; --worlds lists them", c.Budget)
	}
	return all, nil
}

// listWorlds prints the worlds and their budgets.
func (c *selftestCmd) listWorlds(e *env) error {
	o := &output{w: e.Stdout}
	for _, s := range selftest.Scenes() {
		var budgets []string
		for _, one := range s.Searches {
			budgets = append(budgets, one.Name)
		}
		o.line("%s (%s)", s.Name, strings.Join(budgets, ", "))
		for _, line := range report.Wrap("  ", "  ", s.Says, e.Cols) {
			o.line("%s", line)
		}
	}
	return o.err
}

// worlds simulates the searches of the worlds that --world names.
func (c *selftestCmd) worlds(ctx context.Context, e *env) error {
	if c.Searches < 1 || c.Searches > 1_000_000 {
		return usageError("--searches %d: from 1 to 1000000", c.Searches)
	}
	scenes, err := c.scenes()
	if err != nil {
		return err
	}
	began := e.Now()
	rows, err := simulateScenes(ctx, e, report.NewProgress(e.Stderr, e.TTY, e.width, e.Now), scenes, c.Seed, c.Searches, c.Oracle)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return writeJSON(e.Stdout, worldsReport{c.Seed, e.Now().Sub(began), rows})
	case c.Markdown:
		o := &output{w: e.Stdout}
		printScenes(o, scenes, rows)
		var goals []selftest.Goal
		for _, r := range rows {
			goals = append(goals, r.Goals...)
		}
		printGoals(o, goals)
		return o.err
	}
	o := &output{w: e.Stdout}
	o.line("Searches on simulated sites (seed %d)", c.Seed)
	printWorlds(o, e, scenes, rows)
	return o.err
}

// simulateScenes simulates n searches of each scene and budget, and shows the time left. With
// oracle it asks as often what could be reached.
func simulateScenes(ctx context.Context, e *env, p *report.Progress, scenes []selftest.Scene, seed uint64, n int,
	oracle bool,
) ([]selftest.Row, error) {
	began := e.Now()
	total, done := 0, 0
	for _, s := range scenes {
		total += n * len(s.Searches)
	}
	defer p.Done()
	var mu sync.Mutex
	var rows []selftest.Row
	for _, scene := range scenes {
		for i := range scene.Searches {
			s := &scene.Searches[i]
			t, err := s.Simulate(ctx, seed, n, func() {
				mu.Lock()
				defer mu.Unlock()
				done++
				left := time.Duration(float64(e.Now().Sub(began)) * float64(total-done) / float64(done))
				p.Status("%s, %s: %d of %d searches, %s left", scene.Name, s.Name, done, total,
					report.Duration(left.Round(time.Second)))
			})
			if err != nil {
				return rows, err
			}
			r := scene.Row(s, t)
			if oracle && s.HasOracle() {
				p.Status("%s, %s: the oracle", scene.Name, s.Name)
				o, err := s.AskOracle(ctx, seed, n)
				if err != nil {
					return rows, err
				}
				r.Oracle = &o
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// worldsLegend says what the columns of a world's table are.
const worldsLegend = "In percent, with the standard error. proven: searches with a useless change in force that is called proven; useless: searches with one in force at the end; " +
	"harm: searches with a harmful one in force at the end; tried: candidates that were in force in a run; good: changes of the best state in force; ratio: share of the best ln ratio; " +
	"covers: 90 % intervals of the headline that hold the truth; alone: the same of changes called proven; left: time unused."

// printWorlds prints a table of each scene.
func printWorlds(o *output, e *env, scenes []selftest.Scene, rows []selftest.Row) {
	for _, line := range report.Wrap("", "", worldsLegend, e.Cols) {
		o.line("%s", line)
	}
	for _, scene := range scenes {
		if len(scene.Searches) == 0 {
			continue
		}
		o.line("")
		for _, line := range report.Wrap("", "  ", scene.Name+": "+scene.Says, e.Cols) {
			o.line("%s", line)
		}
		t := &report.Table{Columns: worldColumns}
		var missed []string
		for range scene.Searches {
			t.Rows = append(t.Rows, worldCells(rows[0]))
			missed = append(missed, missedGoals(rows[0])...)
			if o := rows[0].Oracle; o != nil {
				missed = append(missed, oracleLine(rows[0].Budget, o))
			}
			rows = rows[1:]
		}
		o.table(t, e.Cols)
		for _, line := range missed {
			o.line("%s", line)
		}
	}
}

// oracleLine is what an oracle reaches under a budget.
func oracleLine(budget string, o *selftest.Oracle) string {
	return fmt.Sprintf("oracle, %s: %d runs, useless %s, harm %s, ratio %s", budget, o.Runs, measureCell(o.UselessInForce),
		measureCell(o.Harmful), measureCell(o.Share))
}

// missedGoals has a line for each goal that a row misses.
func missedGoals(r selftest.Row) (lines []string) {
	for _, g := range r.Goals {
		if !g.OK {
			what := strings.TrimPrefix(g.What, r.World+", ")
			lines = append(lines, fmt.Sprintf("MISSED %s: %s, the goal is %s", what, g.Measured, g.Goal))
		}
	}
	return lines
}

// worldColumns are the columns of a row, and worldCells its cells.
var worldColumns = []report.Column{{Name: "budget", Left: true, Shrink: true}, {Name: "proven"}, {Name: "useless"},
	{Name: "harm"}, {Name: "tried"},
	{Name: "good"}, {Name: "ratio"}, {Name: "covers"}, {Name: "alone"}, {Name: "left"}}

// worldCells are the cells of a row.
func worldCells(r selftest.Row) []string {
	good := "-"
	if r.Good.N > 0 {
		good = fmt.Sprintf("%.1f/%s", r.Good.Mean, tenths(r.Of))
	}
	cells := []string{r.Budget, measureCell(r.UselessProven), measureCell(r.UselessInForce), measureCell(r.Harmful),
		tenths(r.Tried.Mean), good,
		measureCell(r.Share), measureCell(r.Headline), measureCell(r.Alone), measureCell(r.Unused)}
	if r.Errors > 0 {
		cells[0] += fmt.Sprintf(" (%d errors)", r.Errors)
	}
	return cells
}

// tenths is a number with one decimal, unless that is 0.
func tenths(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") }

// measureCell is a share in percent with its standard error.
func measureCell(m selftest.Measure) string {
	switch {
	case m.N == 0:
		return "-"
	case math.Abs(m.Mean) < 0.0995 && m.SE < 0.0995:
		return fmt.Sprintf("%.1f±%.1f", 100*m.Mean, 100*m.SE)
	}
	return fmt.Sprintf("%.0f±%.0f", 100*m.Mean, 100*m.SE)
}
