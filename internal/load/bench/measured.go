package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A Measured is what one part of a sharded run measured, for Merge. It travels as JSON.
type Measured struct {
	Part     scenario.Part       `json:"part"`
	Run      time.Time           `json:"run"`            // its begin
	Began    time.Time           `json:"began,omitzero"` // of the load, by the part's clock; zero without a load
	Took     time.Duration       `json:"took_ns"`
	Counts   Counts              `json:"counts"`
	Outside  int64               `json:"outside,omitempty"` // errors in Prepare and Validate
	Fatal    []string            `json:"fatal,omitempty"`
	Cut      bool                `json:"cut,omitempty"` // it was interrupted
	Stopped  string              `json:"stopped,omitempty"`
	Steps    []MeasuredStep      `json:"steps"` // by step
	Faults   []iikanji.Fault     `json:"faults,omitempty"`
	Phases   []iikanji.PhaseStat `json:"phases,omitempty"`
	Gauges   []iikanji.Gauge     `json:"gauges,omitempty"`
	Notes    []string            `json:"notes,omitempty"`
	Warnings []string            `json:"warnings,omitempty"`
	Load     iikanji.Generator   `json:"generator"`
	Usage    []iikanji.Usage     `json:"usage,omitempty"`
	Place    iikanji.Placement   `json:"placement"`
}

// A MeasuredStep is a StepStat whose latencies can be merged.
type MeasuredStep struct {
	Count, Errors, Timeouts, QuietTimeouts, Cut, Cached, NotMod, Sent, Received int64
	Latency                                                                     []byte // a sketch
}

// measured is what a session measured; run has the parts that need no merging of their own.
func (s *session) measured(ctx context.Context, run *iikanji.Run) *Measured {
	m := &Measured{Part: s.linked.part, Run: run.Began, Began: s.linked.began, Took: run.Took, Counts: s.counts(), Outside: s.outside.Load(), Cut: ctx.Err() != nil,
		Faults: s.faults.list(), Load: run.Load, Usage: run.Usage, Place: run.Place}
	tallies := s.tallies
	if tallies == nil { // without load: the requests of the checks
		tallies = takeTallies(s.shards, len(s.info.Steps))
	}
	for i := range tallies {
		m.Steps = append(m.Steps, tallies[i].measured())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Fatal, m.Stopped, m.Phases, m.Gauges, m.Notes, m.Warnings = s.fatal, s.stopped, s.phases, s.gauges, s.notes, s.warnings
	return m
}

func (t *stepTally) measured() MeasuredStep {
	sketch, _ := t.latency.MarshalBinary() // it never fails
	return MeasuredStep{t.count, t.errors, t.timeouts, t.quietTimeouts, t.cut, t.cached, t.notMod, t.sent, t.received, sketch}
}

// addMeasured adds a part's step.
func (t *stepTally) addMeasured(m *MeasuredStep) error {
	o := stepTally{count: m.Count, errors: m.Errors, timeouts: m.Timeouts, quietTimeouts: m.QuietTimeouts, cut: m.Cut, cached: m.Cached, notMod: m.NotMod, sent: m.Sent, received: m.Received}
	if err := o.latency.UnmarshalBinary(m.Latency); err != nil {
		return err
	}
	t.merge(&o)
	return nil
}

// maxLate is how far the loads of two parts may begin apart.
const maxLate = 500 * time.Millisecond

// Merge is the run of its parts, the first shard's first: points, counts and latencies
// add, faults group, and the score is computed once. lost is why the run is void as a whole; "" if
// every part is there. Began of each part is by the clock of the first.
func Merge(info scenario.Info, seed uint64, loadTime time.Duration, parts []*Measured, lost string) (*iikanji.Run, error) {
	run := &iikanji.Run{Version: iikanji.RunVersion, Scenario: info.Name, Seed: seed}
	x := &merging{info: info, run: run, steps: make([]stepTally, len(info.Steps)), counts: make([]int64, len(info.Table.Events)), why: lost}
	for _, m := range parts {
		if err := x.add(m); err != nil {
			return nil, fmt.Errorf("generator %d: %w", m.Part.Number+1, err)
		}
	}
	for i := range x.steps {
		run.Steps = append(run.Steps, x.steps[i].stat(info.Steps[i]))
	}
	run.Faults = groupFaults(run.Faults)
	if limit := info.Table.MaxErrors; limit > 0 && x.errors > limit && len(x.fatal) == 0 {
		x.fatal = []string{tooMany(limit)}
	}
	x.late(parts)
	x.stopped(parts)
	x.finish(loadTime)
	return run, nil
}

// A merging is a run whose parts are added.
type merging struct {
	info             scenario.Info
	run              *iikanji.Run
	steps            []stepTally
	counts           []int64
	errors, timeouts int64
	fatal            []string
	cut              bool
	why              string
}

// add adds one part.
func (x *merging) add(m *Measured) error {
	if len(m.Steps) != len(x.steps) || len(m.Counts.Events) != len(x.counts) {
		return fmt.Errorf("it has %d steps and %d events, want %d and %d", len(m.Steps), len(m.Counts.Events), len(x.steps), len(x.counts))
	}
	for j := range m.Steps {
		if err := x.steps[j].addMeasured(&m.Steps[j]); err != nil {
			return fmt.Errorf("step %s: %w", x.info.Steps[j], err)
		}
	}
	for j, n := range m.Counts.Events {
		x.counts[j] += n
	}
	x.errors, x.timeouts, x.cut = x.errors+m.Counts.Errors, x.timeouts+m.Counts.Timeouts, x.cut || m.Cut
	x.fatal = append(x.fatal, m.Fatal...)
	if why := limited(&m.Load); why != "" && x.why == "" {
		x.why = fmt.Sprintf("generator %d: %s", m.Part.Number+1, why)
	}
	r := x.run
	r.Faults = append(r.Faults, m.Faults...)
	if m.Part.First() {
		r.Began, r.Took, r.Phases, r.Place = m.Run, m.Took, m.Phases, m.Place
	}
	r.Took = min(r.Took, m.Took)
	addGenerator(&r.Load, &m.Load)
	for _, u := range m.Usage {
		if !m.Part.First() {
			u.Who = fmt.Sprintf("%s %d", u.Who, m.Part.Number+1)
		}
		r.Usage = append(r.Usage, u)
	}
	named := func(lines []string) (out []string) {
		for _, line := range lines {
			out = append(out, fmt.Sprintf("generator %d: %s", m.Part.Number+1, line))
		}
		return out
	}
	r.Notes, r.Warnings = append(r.Notes, named(m.Notes)...), append(r.Warnings, named(m.Warnings)...)
	for _, g := range m.Gauges {
		if !m.Part.First() {
			g.Name = fmt.Sprintf("%s (generator %d)", g.Name, m.Part.Number+1)
		}
		r.Gauges = append(r.Gauges, g)
	}
	return nil
}

// addGenerator adds the resource use of a part's generator: counts add, shares and times are those
// of the worst.
func addGenerator(to, g *iikanji.Generator) {
	to.CPUShare, to.Cores = max(to.CPUShare, g.CPUShare), to.Cores+g.Cores
	to.LagP99, to.LagMax, to.LagMean = max(to.LagP99, g.LagP99), max(to.LagMax, g.LagMax), max(to.LagMean, g.LagMean)
	to.Requests, to.Dials, to.DialFaults = to.Requests+g.Requests, to.Dials+g.Dials, to.DialFaults+g.DialFaults
	to.PeakConns, to.PeakPorts, to.Goroutines = to.PeakConns+g.PeakConns, max(to.PeakPorts, g.PeakPorts), to.Goroutines+g.Goroutines
	to.Starved, to.Busy = to.Starved || g.Starved, to.Busy || g.Busy
}

// groupFaults groups the faults of the parts.
func groupFaults(all []iikanji.Fault) []iikanji.Fault {
	type key struct {
		kind        iikanji.FaultKind
		step, check string
	}
	at := map[key]int{}
	var out []iikanji.Fault
	for _, f := range all {
		k := key{f.Kind, f.Step, f.Check}
		i, known := at[k]
		if !known {
			at[k], out = len(out), append(out, f)
			continue
		}
		out[i].Count += f.Count
		out[i].Fatal = out[i].Fatal || f.Fatal
	}
	slices.SortStableFunc(out, compareFaults)
	return out
}

// late makes the run void if the loads of two parts began too far apart.
func (x *merging) late(parts []*Measured) {
	if x.why != "" || len(parts) == 0 {
		return
	}
	for _, m := range parts {
		if d := m.Began.Sub(parts[0].Began); !m.Began.IsZero() && !parts[0].Began.IsZero() && d.Abs() > maxLate {
			x.why = fmt.Sprintf("generator %d began %v from the first one", m.Part.Number+1, d.Round(time.Millisecond))
			return
		}
	}
}

// stopped makes a run void that a part ended for no fault of the target.
func (x *merging) stopped(parts []*Measured) {
	for _, m := range parts {
		if m.Stopped != "" && x.why == "" && len(x.fatal) == 0 {
			x.why = fmt.Sprintf("generator %d was stopped: %s", m.Part.Number+1, m.Stopped)
		}
	}
}

// finish computes the score and the outcome.
func (x *merging) finish(loadTime time.Duration) {
	run, table := x.run, &x.info.Table
	sc := table.Score(x.counts, x.errors, x.timeouts)
	run.Outcome, run.Reasons = judge(ending{fatal: x.fatal, interrupted: x.cut, loaded: run.Took > 0, took: run.Took, loadTime: loadTime, why: x.why,
		score: sc, failAtZero: table.FailAtZero, errors: x.errors, timeouts: x.timeouts})
	if run.Outcome != iikanji.Failed && x.why != "" { // never a part of a score
		run.Outcome, run.Reasons = iikanji.Void, []string{"the measurement is void: " + x.why}
		run.Load.Void, run.Load.Why = true, x.why
	}
	run.Partial = x.cut
	for i, e := range table.Events {
		run.Points = append(run.Points, iikanji.PointStat{Event: e.Name, Count: x.counts[i], Points: sc.ByEvent[i]})
	}
	if run.Took == 0 || run.Outcome == iikanji.Void {
		return
	}
	run.Raw, run.Deducted = sc.Raw, sc.Deducted
	if run.Outcome != iikanji.Failed {
		run.Score = sc.Final
	}
}
