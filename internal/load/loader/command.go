package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A Command loads a site by an outside command.
type Command struct {
	Site  string // name of the site, for the run
	URL   string
	Bench target.Bench
	// AccessLog is the access log of the site's front, by which the begin of the
	// load is found; nil or "" for none.
	AccessLog func() string
	// Machine has the access log; nil for this one.
	Machine host.Host
	// Prepare makes the data of the site anew before a run; nil for nothing.
	Prepare func(ctx context.Context) error
	// Past are the scores of earlier runs that passed, and the number of all
	// earlier runs; nil for none.
	Past func() (scores []float64, runs int, err error)
	// Inits are the times of initialize of earlier runs, the oldest first; nil for none.
	Inits func() ([]Initialized, error)
	Now   func() time.Time
	// Parameters are the parameters of the command with their present values; nil for none.
	Parameters func() ([]iikanji.Parameter, error)
}

var _ field.Loader = (*Command)(nil)

// machine has the access log.
func (c *Command) machine() host.Host {
	if c.Machine == nil {
		return host.Local{}
	}
	return c.Machine
}

// A SpentError is a benchmarker whose runs are used up.
type SpentError struct{ Runs int }

func (e *SpentError) Error() string {
	return fmt.Sprintf("all %d runs of the benchmarker are used up", e.Runs)
}

// Hints tells where the limit is.
func (e *SpentError) Hints() []string {
	return []string{"max_runs below [bench] in " + target.Name + " is the limit"}
}

// Shortens reports whether the command can make runs of another length.
func (c *Command) Shortens() bool { return strings.Contains(c.Bench.Command, "IIKANJI_SECONDS") }

// Load implements field.Loader.
func (c *Command) Load(ctx context.Context, l field.Load) (*iikanji.Run, error) {
	run := newRun(c.Site)
	if l.CheckOnly {
		return c.check(ctx, run)
	}
	scores, err := c.allowed()
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx, run); err != nil {
		return nil, err
	}
	length := c.Bench.RunLength()
	if l.Time > 0 && c.Shortens() {
		length = l.Time
	}
	p := &phases{onPhase: l.OnPhase, now: c.Now}
	ended, err := c.run(ctx, run, c.Bench.Command, length, p, l)
	if err != nil {
		return nil, err
	}
	c.judge(run, ended)
	c.heard(run, ended.output)
	c.took(run, p, ended)
	c.initialized(run)
	if run.Outcome == iikanji.Passed {
		run.Warnings = append(run.Warnings, doubts(append(scores, run.Score))...)
	}
	return run, keepOutput(l.Samples, ended.output)
}

func newRun(site string) *iikanji.Run {
	return &iikanji.Run{Version: iikanji.RunVersion, Scenario: site, Points: []iikanji.PointStat{}, Reasons: []string{}, Steps: []iikanji.StepStat{},
		Faults: []iikanji.Fault{}, Phases: []iikanji.PhaseStat{}, Place: iikanji.Placement{Cores: runtime.NumCPU(), Generator: "all", Stack: "all"}}
}

// allowed refuses a run beyond the limit, and returns the earlier scores.
func (c *Command) allowed() ([]float64, error) {
	if c.Past == nil {
		return nil, nil
	}
	scores, runs, err := c.Past()
	if err == nil && c.Bench.MaxRuns > 0 && runs >= c.Bench.MaxRuns {
		err = &SpentError{c.Bench.MaxRuns}
	}
	return scores, err
}

func (c *Command) prepare(ctx context.Context, run *iikanji.Run) error {
	if c.Prepare == nil {
		return nil
	}
	began := c.Now()
	if err := c.Prepare(ctx); err != nil {
		return fmt.Errorf("preparing the data before the run: %w", err)
	}
	run.Phases = append(run.Phases, iikanji.PhaseStat{Phase: "reset", Took: c.Now().Sub(began)})
	return nil
}

// check prepares the data and runs the command initialize, without load.
func (c *Command) check(ctx context.Context, run *iikanji.Run) (*iikanji.Run, error) {
	if err := c.prepare(ctx, run); err != nil {
		return nil, err
	}
	run.Outcome = iikanji.Passed
	if c.Bench.Initialize == "" {
		return run, nil
	}
	ended, err := c.run(ctx, run, c.Bench.Initialize, c.Bench.RunLength(), &phases{now: c.Now}, field.Load{CheckOnly: true})
	if err != nil {
		return nil, err
	}
	if why := c.failure(ended); why != "" {
		run.Outcome, run.Reasons = iikanji.Failed, append(run.Reasons, "initialize: "+why)
	}
	return run, nil
}

// Command.run runs a command with its phases and its progress.
func (c *Command) run(ctx context.Context, run *iikanji.Run, text string, length time.Duration, p *phases, l field.Load) (*ending, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	run.Began = c.Now()
	env, err := c.env(length)
	if err != nil {
		return nil, err
	}
	proc := &process{text: text, dir: c.Bench.Dir, env: env, limit: c.limit(length)}
	if !l.CheckOnly {
		if err := c.marks(ctx, &beside, p, proc); err != nil {
			return nil, err
		}
		if l.Progress != nil {
			beside.Go(func() { c.progress(ctx, p, length, l.Progress) })
		}
	}
	ended, err := proc.run(ctx)
	stop()
	beside.Wait()
	p.end()
	return ended, err
}

func (c *Command) env(length time.Duration) ([]string, error) {
	env := append(os.Environ(), "IIKANJI_URL="+c.URL, fmt.Sprintf("IIKANJI_SECONDS=%d", max(1, int(length.Round(time.Second).Seconds()))))
	for k, v := range c.Bench.Env {
		env = append(env, k+"="+v)
	}
	if c.Parameters == nil {
		return env, nil
	}
	parameters, err := c.Parameters()
	for _, p := range parameters {
		env = append(env, p.Name+"="+p.Value)
	}
	return env, err
}

// limit is the time after which a run of a length is ended.
func (c *Command) limit(length time.Duration) time.Duration {
	if c.Bench.Timeout > 0 || length == c.Bench.RunLength() {
		return c.Bench.Limit()
	}
	return 3*length + 2*time.Minute
}

// progress reports how long the load still takes.
func (c *Command) progress(ctx context.Context, p *phases, length time.Duration, show func(bench.Progress)) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	began := c.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := c.Now()
		if from, loading := p.loading(); loading {
			show(bench.Progress{Unseen: true, Phase: string(scenario.Load), Elapsed: now.Sub(from), Left: max(0, length-now.Sub(from))})
		} else {
			show(bench.Progress{Unseen: true, Phase: string(scenario.Initialize), Elapsed: now.Sub(began)})
		}
	}
}

// failure is why a command failed by its end alone, "" if it did not.
func (c *Command) failure(e *ending) string {
	statuses := c.Bench.Exit
	if len(statuses) == 0 {
		statuses = []int{0}
	}
	switch {
	case e.timeout:
		return "the benchmarker was ended after its time limit"
	case !slices.Contains(statuses, e.status):
		return fmt.Sprintf("the benchmarker ended with status %d%s", e.status, lastLines(e.output))
	}
	return ""
}

// judge fills in outcome, score and faults.
func (c *Command) judge(run *iikanji.Run, e *ending) {
	if e.interrupted {
		run.Outcome, run.Partial, run.Reasons = iikanji.Interrupted, true, append(run.Reasons, "stopped before the end of the benchmarker")
		return
	}
	r := Read(&c.Bench, e.output)
	if why := c.failure(e); why != "" {
		run.Reasons = append(run.Reasons, why)
	}
	run.Reasons = append(run.Reasons, r.Failed...)
	if !r.Scored {
		run.Reasons = append(run.Reasons, "the output has no score"+lastLines(e.output))
	}
	for _, m := range r.Faults {
		run.Faults = addFault(run.Faults, m)
	}
	if r.Requests > 0 {
		run.Steps = append(run.Steps, iikanji.StepStat{Step: "all", Count: r.Requests, Errors: r.Errors})
		run.Load.Requests = r.Requests
		run.Load.PeakConns = unknownConns
	}
	run.Raw = r.Score
	if run.Outcome = iikanji.Failed; len(run.Reasons) == 0 {
		run.Outcome, run.Score = iikanji.Passed, r.Score
		run.Points = append(run.Points, iikanji.PointStat{Event: "score by " + r.By, Count: 1, Points: r.Score})
	}
	if r.By != "" {
		run.Notes = append(run.Notes, "the score is by "+r.By)
	}
}

// unknownConns is how many connections a load tool is taken to have had, for
// comparisons of counts: requests that were in flight at either end.
const unknownConns = 64

// maxFaults limits the different messages that are kept of a run.
const maxFaults = 50

// addFault counts a message of a failed check.
func addFault(faults []iikanji.Fault, message string) []iikanji.Fault {
	if message = oneLine(message); message == "" {
		return faults
	}
	i := slices.IndexFunc(faults, func(f iikanji.Fault) bool { return f.Message == message })
	switch {
	case i >= 0:
		faults[i].Count++
	case len(faults) < maxFaults:
		faults = append(faults, iikanji.Fault{Kind: iikanji.FaultCheck, Check: "benchmarker", Message: message, Count: 1})
	}
	return faults
}

// took fills in when the load was.
func (c *Command) took(run *iikanji.Run, p *phases, e *ending) {
	from, to, ok := p.window()
	if ok {
		run.Phases = append(run.Phases, iikanji.PhaseStat{Phase: string(scenario.Initialize), Took: from.Sub(run.Began)})
		run.Began, run.Took = from, to.Sub(from)
	} else {
		run.Took = e.took
		run.Warnings = append(run.Warnings, "no request of the benchmarker was seen in the access log: the begin of the load is not known")
	}
	run.Phases = append(run.Phases, iikanji.PhaseStat{Phase: string(scenario.Load), Took: run.Took})
}

// outputFile is the name of the benchmarker's output in the folder of a run.
const outputFile = "benchmarker.out"

// keepOutput writes the output into the folder of a run. It may hold secrets of
// the benchmarker, so that only this user may read it.
func keepOutput(dir string, o Output) error {
	if dir == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, outputFile), o.all(), 0o600); err != nil {
		return fmt.Errorf("keeping the output of the benchmarker: %w", err)
	}
	return nil
}

// lastLines is the end of an output, for a message.
func lastLines(o Output) string {
	var lines []string
	for line := range strings.Lines(string(o.all())) {
		if line = oneLine(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ", and printed nothing"
	}
	lines = lines[max(0, len(lines)-3):]
	return "; its last lines: " + strings.Join(lines, " | ")
}

// maxLineText is the length of a line in a message, in runes.
const maxLineText = 200

// oneLine makes a text of the benchmarker printable.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return plain.Cut(strings.TrimSpace(s), maxLineText)
}

var errNoCommand = errors.New("there is no benchmarker: fill in command below [bench]")
