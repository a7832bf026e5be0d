package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji/internal/proof/selftest"
	"github.com/iikanji/iikanji/internal/show/report"
)

// figuresBegin and figuresEnd are the lines of docs/method.md between which the output of
// selftest --full --markdown stands.
const (
	figuresBegin = "<!-- figures -->"
	figuresEnd   = "<!-- end of figures -->"
)

// markdown prints everything that was measured as a part of docs/method.md.
func (c *selftestCmd) markdown(e *env, rep *selftestReport) error {
	o := &output{w: e.Stdout}
	o.line("%s", figuresBegin)
	o.line("From `iikanji selftest --full --seed %d%s --markdown`: %s trials of the tables and %s searches."+
		" ± is one standard error.", rep.Seed, c.sizes(), report.Count(int64(rep.Total)), report.Count(int64(rep.countSearches())))
	o.line("\n#### One trial\n\nHow often a change is kept, by its true effect; %s trials a cell. *noise* is the standard deviation"+
		" of one run, *pairs* the mean number of pairs at +10 %%.\n", report.Count(int64(rep.Trials)))
	o.markdown(rulesTable(rep.Cells))
	o.line("\n#### One trial on machines that break the rule's assumptions\n")
	o.markdown(worldsTable(rep.Cells))
	if len(rep.Costs) > 0 {
		o.line("\n#### How many pairs an effect costs\n\nThe least effect that a trial keeps with a chance of 80 %% within so many" +
			" pairs, by the noise of a pair (standard deviation of the difference of two runs, 1.4 × that of one run). Trials of a" +
			" search use the fast lane besides.\n")
		o.markdown(costsTable(rep.Costs))
	}
	o.line("\n#### Whole searches\n\n%d searches of each kind; means of one search.\n", c.Searches)
	o.markdown(searchesTable(rep.Searches))
	if len(rep.Worlds) > 0 {
		o.line("\n#### Worlds: sites whose changes interact, long runs, other machines\n\n%d searches of each world and budget.\n",
			rep.Worlds[0].Searches+rep.Worlds[0].Errors)
		printScenes(o, rep.scenes(), rep.Worlds)
	}
	printGoals(o, rep.Goals)
	o.line("%s", figuresEnd)
	return o.err
}

// scenes are those that were simulated.
func (r *selftestReport) scenes() []selftest.Scene {
	return slices.DeleteFunc(selftest.Scenes(), func(s selftest.Scene) bool {
		return !slices.ContainsFunc(r.Worlds, func(w selftest.Row) bool { return w.World == s.Name })
	})
}

// sizes are the flags of the numbers of trials and searches that are not the usual ones.
func (c *selftestCmd) sizes() string {
	flags := ""
	if c.Trials != usualTrials {
		flags += fmt.Sprintf(" --trials %d", c.Trials)
	}
	if c.Searches != usualSearches {
		flags += fmt.Sprintf(" --searches %d", c.Searches)
	}
	if c.Scale != 1 {
		flags += fmt.Sprintf(" --scale %g", c.Scale)
	}
	return flags
}

// markdown writes a table.
func (o *output) markdown(t *report.Table) {
	if o.err == nil {
		o.err = t.Write(o.w, report.Markdown, 0)
	}
}

// costsTable has a row for each noise of a pair.
func costsTable(costs []selftest.PairCost) *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "noise of a pair"}}}
	for _, n := range selftest.CostPairs {
		t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("%d pairs", n)})
	}
	for _, c := range costs {
		row := []string{fmt.Sprintf("%.0f %%", 100*c.Noise)}
		for _, x := range c.Effects {
			row = append(row, fmt.Sprintf("%+.0f %%", 100*x))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// searchesTable has a row for each kind of search.
func searchesTable(all []selftest.Tally) *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "search", Left: true}, {Name: "no effect"}, {Name: "harmful"},
		{Name: "harm"}, {Name: "good"}, {Name: "unproven"}, {Name: "covers"}, {Name: "headline"}, {Name: "runs"}}}
	for _, s := range all {
		n := float64(s.Searches)
		row := []string{s.Name, fmt.Sprintf("%.2f", float64(s.Null)/n), fmt.Sprintf("%.2f", float64(s.Harmful)/n),
			fmt.Sprintf("%.2f", 100*-math.Expm1(-s.Harm/n)), cmp.Or(goodText(s), "-"), fmt.Sprintf("%.2f", float64(s.Unproven)/n),
			ofText(s.Inside, s.Changes), ofText(s.Covered, s.Compared), fmt.Sprintf("%.0f", float64(s.Runs)/n)}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// goodText is how many good changes were found; "" if there are none.
func goodText(s selftest.Tally) string {
	n, of := float64(s.Searches), s.Good+s.Missed
	if of == 0 || n == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f of %.0f (%.0f %%)", float64(s.Good)/n, float64(of)/n, 100*s.Gain/s.Possible)
}

// printScenes writes the scenes and a table of their rows as Markdown.
func printScenes(o *output, scenes []selftest.Scene, rows []selftest.Row) {
	for _, s := range scenes {
		o.line("- **%s**: %s", s.Name, s.Says)
	}
	o.line("\n%s\n", worldsLegend)
	t := &report.Table{Columns: append([]report.Column{{Name: "world", Left: true}}, worldColumns...)}
	for _, r := range rows {
		t.Rows = append(t.Rows, append([]string{r.World}, worldCells(r)...))
	}
	o.markdown(t)
	printOracle(o, rows)
}

// printOracle writes what an oracle reaches, if it was asked.
func printOracle(o *output, rows []selftest.Row) {
	t := &report.Table{Columns: []report.Column{{Name: "world", Left: true}, {Name: "budget", Left: true}, {Name: "runs"},
		{Name: "useless"}, {Name: "of the oracle"}, {Name: "harm"}, {Name: "of the oracle"}, {Name: "ratio"}, {Name: "of the oracle"}}}
	for _, r := range rows {
		if q := r.Oracle; q != nil {
			t.Rows = append(t.Rows, []string{r.World, r.Budget, fmt.Sprint(q.Runs), measureCell(r.UselessInForce), measureCell(q.UselessInForce),
				measureCell(r.Harmful), measureCell(q.Harmful), measureCell(r.Share), measureCell(q.Share)})
		}
	}
	if len(t.Rows) > 0 {
		o.line("\n%s\n", oracleLegend)
		o.markdown(t)
	}
}

// oracleLegend says what the oracle is.
const oracleLegend = "An oracle knows all of a site but the noise and which candidate is which, and reads scores only. It has the runs that the time holds, without those of the " +
	"last comparison and one to observe."

// printGoals writes the goals as Markdown.
func printGoals(o *output, goals []selftest.Goal) {
	missed := 0
	for _, g := range goals {
		missed += map[bool]int{false: 1}[g.OK]
	}
	if len(goals) > 0 {
		o.line("\n#### Goals\n\n%d of %d are missed.\n", missed, len(goals))
		o.markdown(goalsTable(goals))
	}
}

// goalsTable has a row for each goal.
func goalsTable(goals []selftest.Goal) *report.Table {
	t := &report.Table{}
	for _, name := range []string{"what", "goal", "measured", ""} {
		t.Columns = append(t.Columns, report.Column{Name: name, Left: true})
	}
	for _, g := range goals {
		t.Rows = append(t.Rows, []string{g.What, g.Goal, g.Measured, okText(g.OK)})
	}
	return t
}

func okText(ok bool) string {
	if ok {
		return "ok"
	}
	return "MISSED"
}
