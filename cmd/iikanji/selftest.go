package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/proof/selftest"
	"github.com/iikanji/iikanji/internal/show/report"
)

// selftestCmd tests the judge on trials whose true effect is known.
type selftestCmd struct {
	Trials   int     `default:"5000" help:"Simulated trials per cell of the table."`
	Searches int     `default:"60" help:"Simulated searches of each kind."`
	Full     bool    `help:"Measure every goal with enough trials and searches; takes many minutes."`
	Scale    float64 `default:"1" help:"With --full: factor on the numbers of trials and searches."`
	Seed     uint64  `default:"1" help:"Seed of the simulation; the same seed gives the same table."`
	JSON     bool    `help:"Print one JSON document."`

	World    []string `help:"Simulate --searches searches of these worlds only; all is every one." placeholder:"NAME"`
	Markdown bool     `help:"With --full: print the figures of docs/method.md. With --world: print its table as Markdown."`
	Worlds   bool     `help:"List the worlds with their budgets."`
	Oracle   bool     `help:"With --world: also what an oracle reaches that knows all but the noise and which candidate is which."`
	Budget   string   `help:"With --world: only the budgets that begin so, as in '15 min' or 'no limit'." placeholder:"TEXT"`

	Arena string        `help:"Test the judge on real runs of this unchanged arena instead." placeholder:"ARENA"`
	AA    int           `name:"aa" help:"With --arena: number of trials." default:"10"`
	Load  time.Duration `help:"With --arena: length of the load of a run." default:"5s"`
	Noisy bool          `help:"With --arena: use every run, however much it was disturbed."`
	Pin   string        `help:"With --arena: CPUs, as in iikanji bench." default:"auto"`
	placeFlags
}

// The defaults of the numbers of trials and searches.
const (
	usualTrials   = 5000
	usualSearches = 60
)

// Help returns the long help of the command.
func (selftestCmd) Help() string {
	return `Runs the judge, which decides what tune keeps, on simulated runs: of changes that
do nothing, and of changes with a known effect. Prints how often each was kept,
next to simple rules that compare one run with one run. Then it runs whole
searches of the real tuner on a simulated site, on machines that behave well and
on machines that do not, and prints what is in force at their end.

With --full it measures each goal of the method with more trials and searches, on
every simulated site too, and prints goal, measured value and whether the goal is
reached. A search that ends with an error is counted, and ends nothing.

With --world it runs searches of one simulated site (--worlds lists them), and counts
for each budget of time: searches in which a useless change is called proven, those
with a useless or a harmful one in force at the end, the good ones found, and how
many of the intervals cover the truth, each with its standard error.

With --arena the runs are real, on an arena that does not change: every change
that the judge keeps there is a false positive.

Examples:
  iikanji selftest
  iikanji selftest --full
  iikanji selftest --worlds
  iikanji selftest --world interactions --world minutes --searches 200
  iikanji selftest --world ladder --budget '15 min' --seed 2 --json
  iikanji selftest --arena isucondition --aa 10

Exit status: 0 the judge is within its error rates, 1 failed to run or a goal of
--full is missed, 2 usage,
3 it is not: it keeps a no-op more than 5 % of the time, keeps +10 % at 5 %
noise less than 90 % of the time, or needs more than 4.5 pairs for that on
average (each beyond what the number of trials explains).`
}

// A selftestCell is the result of one rule in one simulated world.
type selftestCell struct {
	Rule   string  `json:"rule"`
	World  string  `json:"world"`
	Sigma  float64 `json:"sigma"`
	Effect float64 `json:"effect"`
	Ours   bool    `json:"ours"` // the judge with a prior, in the assumed world
	selftest.TrialTally
	Kept  float64 `json:"kept_share"`
	Pairs float64 `json:"mean_pairs"`

	world selftest.World
	rule  selftest.Rule
}

type selftestReport struct {
	Trials int             `json:"trials_per_cell"`
	Total  int             `json:"trials"`
	Seed   uint64          `json:"seed"`
	Took   time.Duration   `json:"took_ns"`
	Cells  []*selftestCell `json:"cells"`
	Broken []string        `json:"broken"`

	Searches []selftest.Tally    `json:"searches"`
	Worlds   []selftest.Row      `json:"worlds,omitempty"`
	Costs    []selftest.PairCost `json:"costs,omitempty"`
	Goals    []selftest.Goal     `json:"goals,omitempty"`
}

// Run simulates the trials, prints the tables and checks the error rates.
func (c *selftestCmd) Run(ctx context.Context, e *env) error {
	if c.Trials < 100 || c.Trials > 10_000_000 {
		return usageError("--trials %d: from 100 to 10000000", c.Trials)
	}
	if c.Arena != "" {
		return c.real(ctx, e)
	}
	switch {
	case c.Worlds:
		return c.listWorlds(e)
	case len(c.World) > 0:
		return c.worlds(ctx, e)
	}
	began := e.Now()
	rep := &selftestReport{Trials: c.Trials, Seed: c.Seed, Cells: selftestCells(), Broken: []string{}}
	if err := c.simulate(ctx, e, rep.Cells); err != nil {
		return err
	}
	for _, cell := range rep.Cells {
		cell.Kept, cell.Pairs = cell.KeptShare(), cell.MeanPairs()
		rep.Total += cell.Trials
	}
	if err := c.searches(ctx, e, rep); err != nil {
		return err
	}
	rep.Took = e.Now().Sub(began)
	rep.Broken = append(rep.Broken, exceededLimits(rep.Cells)...)
	if err := c.print(e, rep); err != nil {
		return err
	}
	if n := len(rep.Broken); n > 0 {
		return &exitError{Status: exitChecks, Err: errors.New(rep.Broken[0])}
	}
	for _, g := range rep.Goals {
		if !g.OK {
			return fmt.Errorf("a goal is missed: %s: %s, the goal is %s", g.What, g.Measured, g.Goal)
		}
	}
	return nil
}

// selftestEffects are the columns of the first table.
var selftestEffects = [...]float64{0, 0.05, 0.10, 0.20, -0.05}

// selftestCells lists the cells: simple rules and the judge in the world that the
// method assumes, then the judge in worlds that violate the assumptions.
func selftestCells() []*selftestCell {
	var cells []*selftestCell
	add := func(rule string, r selftest.Rule, ours bool, w selftest.World, effects ...float64) {
		for _, x := range effects {
			cells = append(cells, &selftestCell{Rule: rule, World: w.Name, Sigma: w.Sigma, Effect: x, Ours: ours, world: w, rule: r})
		}
	}
	all := selftestEffects[:]
	five := selftest.World{Sigma: 0.05}
	add("one run, went up", selftest.SingleRunRule(0), false, five, all...)
	add("one run, over 3 % up", selftest.SingleRunRule(0.03), false, five, all...)
	add("one run, over 10 % up", selftest.SingleRunRule(0.10), false, five, all...)
	add("judge, no A/A runs", selftest.JudgeRule, false, selftest.World{Sigma: 0.05, NoPrior: true}, all...)
	add("judge", selftest.JudgeRule, true, five, all...)
	add("judge", selftest.JudgeRule, true, selftest.World{Sigma: 0.02}, all...)
	for _, w := range append(selftest.Worlds()[2:], selftest.Extra()...) {
		add("judge", selftest.JudgeRule, false, w, 0, 0.10)
	}
	return cells
}

// simulate fills the tallies of the cells, in blocks of trials, on all CPUs.
func (c *selftestCmd) simulate(ctx context.Context, e *env, cells []*selftestCell) error {
	const block = 500
	type job struct{ cell, first, n int }
	jobs := make(chan job)
	var mu sync.Mutex
	var wg sync.WaitGroup
	done, total, began := 0, len(cells)*c.Trials, e.Now()
	p := quickProgress(e)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range jobs {
				cell := cells[j.cell]
				t := selftest.SimulateTrials(cell.world, cell.Effect, cell.rule, c.Seed+uint64(j.cell)<<32, j.first, j.n)
				mu.Lock()
				cell.Join(t)
				done += j.n
				showTrials(e, p, done, total, began)
				mu.Unlock()
			}
		})
	}
feed:
	for i := range cells {
		for first := 0; first < c.Trials; first += block {
			select {
			case jobs <- job{i, first, min(block, c.Trials-first)}:
			case <-ctx.Done():
				break feed
			}
		}
	}
	close(jobs)
	wg.Wait()
	p.Done()
	if ctx.Err() != nil {
		return fmt.Errorf("simulating: %w", ctx.Err())
	}
	return nil
}

// quickProgress is the progress of a command that takes seconds: it is only for
// terminals.
func quickProgress(e *env) *report.Progress {
	w := e.Stderr
	if !e.TTY {
		w = io.Discard
	}
	return report.NewProgress(w, e.TTY, e.width, e.Now)
}

// showTrials shows how many simulated trials are done.
func showTrials(e *env, p *report.Progress, done, total int, began time.Time) {
	left := time.Duration(float64(e.Now().Sub(began)) * float64(total-done) / float64(done))
	p.Status("simulating: %s of %s trials, %s left", report.Count(int64(done)), report.Count(int64(total)), report.Duration(left.Round(time.Second)))
}

// The error rates that the judge must keep; docs/method.md lists them too.
const (
	maxFalseKeeps = 0.05
	minTrueKeeps  = 0.90 // of +10 % at 5 % noise
	maxMeanPairs  = 4.5  // for +10 % at 5 % noise, on average
)

// exceededLimits lists the error rates that the judge exceeds by more than three
// standard errors of a share: chance does so in 1 of 700 self-tests.
func exceededLimits(cells []*selftestCell) []string {
	var broken []string
	for _, c := range cells {
		if !c.Ours {
			continue
		}
		slack := func(share float64) float64 { return 3 * math.Sqrt(share*(1-share)/float64(c.Trials)) }
		if c.Effect == 0 && c.Kept > maxFalseKeeps+slack(maxFalseKeeps) {
			broken = append(broken, fmt.Sprintf("a no-op is kept in %.2f %% of trials at %.0f %% noise, over %.0f %%", 100*c.Kept, 100*c.Sigma, 100*maxFalseKeeps))
		}
		if c.Effect == 0.10 && c.Kept < minTrueKeeps-slack(minTrueKeeps) {
			broken = append(broken, fmt.Sprintf("+10 %% is kept in %.1f %% of trials at %.0f %% noise, under %.0f %%", 100*c.Kept, 100*c.Sigma, 100*minTrueKeeps))
		}
		// No trial takes more than 8 pairs or fewer than 2.
		if c.Effect == 0.10 && c.Pairs > maxMeanPairs+3*3/math.Sqrt(float64(c.Trials)) {
			broken = append(broken, fmt.Sprintf("+10 %% takes %.2f pairs on average at %.0f %% noise, over %.1f", c.Pairs, 100*c.Sigma, maxMeanPairs))
		}
	}
	return broken
}

func (c *selftestCmd) print(e *env, rep *selftestReport) error {
	switch {
	case c.JSON:
		return writeJSON(e.Stdout, rep)
	case c.Markdown:
		return c.markdown(e, rep)
	}
	fmt.Fprintf(e.Stdout, "How often a change is kept, by its true effect; mean pairs are those at +10 %%\n(%s trials a cell, seed %d)\n\n", report.Count(int64(rep.Trials)), rep.Seed)
	if err := rulesTable(rep.Cells).Write(e.Stdout, report.Text, e.Cols); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "\nThe judge in worlds that violate its assumptions\n\n")
	if err := worldsTable(rep.Cells).Write(e.Stdout, report.Text, e.Cols); err != nil {
		return err
	}
	if err := printSearches(e, rep); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.Stdout, "\n%s trials and %s searches in %s\n", report.Count(int64(rep.Total)), report.Count(int64(rep.countSearches())), report.Duration(rep.Took))
	return err
}

// rulesTable has a row for each rule and noise, a column for each effect.
func rulesTable(cells []*selftestCell) *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "rule", Left: true, Shrink: true}, {Name: "noise"}}}
	for _, x := range selftestEffects {
		name := "no-op"
		if x != 0 {
			name = fmt.Sprintf("%+.0f %%", 100*x)
		}
		t.Columns = append(t.Columns, report.Column{Name: name})
	}
	t.Columns = append(t.Columns, report.Column{Name: "pairs"})
	var row []string
	pairs := ""
	for _, c := range cells {
		if c.World != "" {
			continue
		}
		if row == nil {
			row = []string{c.Rule, fmt.Sprintf("%.0f %%", 100*c.Sigma)}
		}
		if row = append(row, keptCell(c)); c.Effect == 0.10 {
			pairs = fmt.Sprintf("%.1f", c.Pairs)
		}
		if len(row) == 2+len(selftestEffects) {
			t.Rows, row = append(t.Rows, append(row, pairs)), nil
		}
	}
	return t
}

func worldsTable(cells []*selftestCell) *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "world", Left: true, Shrink: true}, {Name: "noise"},
		{Name: "no-op"}, {Name: "+10 %"}, {Name: "pairs"}}}
	noop := ""
	for _, c := range cells {
		switch {
		case c.World == "":
		case c.Effect == 0:
			noop = keptCell(c)
		default:
			t.Rows = append(t.Rows, []string{c.World, fmt.Sprintf("%.0f %%", 100*c.Sigma), noop, keptCell(c), fmt.Sprintf("%.1f", c.Pairs)})
		}
	}
	return t
}

func keptCell(c *selftestCell) string { return fmt.Sprintf("%.1f %%", 100*c.Kept) }
