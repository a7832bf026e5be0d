package selftest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A site is a simulated site. Its candidates are files: a candidate is in force if its place
// has its content. It implements tune.Field, tune.Comparer and change.Hands.
type site struct {
	machine
	store
	search     Search
	candidates []Candidate
	keys       map[string]int // of the candidates, by the keys of their remedies
	truth      Truth
	now        time.Time
	files      map[string]string
	states     []Set // of the runs, by number
	trials     bool  // the calibration is over
	began      time.Time
	phase      time.Duration // of the sine
	all        int           // runs, observed ones included
}

// defaultOverhead is the time of a run beyond its load unless the search has its own.
const defaultOverhead = 3 * time.Second

// overhead is the time of a run beyond its load.
func (s *Search) overhead() time.Duration { return cmp.Or(s.Overhead, defaultOverhead) }

// pass moves the clock.
func (s *site) pass(d time.Duration) { s.now = s.now.Add(d) }

// inForce are the candidates in force.
func (s *site) inForce() Set {
	var in Set
	for k := range s.candidates {
		if s.isOn(k) {
			in |= 1 << k
		}
	}
	return in
}

func (s *site) isOn(k int) bool {
	return s.files[s.candidates[k].place(k)] == s.candidates[k].content(k)
}

// long is what a load shows of what only full runs show: 0 in short runs, 1 in full ones.
func (s *site) long(load time.Duration) float64 {
	o := s.search.Options
	if o.Full <= o.Short {
		return 1
	}
	return min(1, max(0, float64(load-o.Short)/float64(o.Full-o.Short)))
}

// Bench implements tune.Field.
func (s *site) Bench(ctx context.Context, spec load.Spec) (*iikanji.Run, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	s.pass(s.search.overhead() + spec.Rest)
	s.trials = s.trials || spec.Trial
	s.all++
	in := s.inForce()
	y := math.Log(10_000) + s.truth.Score(in, s.long(spec.Load))
	y += s.noise(spec.Trial, !s.trials) * s.noisiness(in) * s.averaged(spec.Load)
	y += s.rhythm(spec.Load)
	if s.Bursts > 0 {
		y += s.Bursts * s.rng.NormFloat64() * float64(s.search.Options.Short) / float64(spec.Load)
	}
	run := &iikanji.Run{Began: s.now, Took: spec.Load, State: spec.State, Outcome: iikanji.Passed, Score: s.scored(y),
		Steps: []iikanji.StepStat{{Count: 10_000}}}
	s.spoil(run)
	s.count(run, in)
	s.pass(spec.Load)
	s.addRun(run)
	s.states = append(s.states, in)
	if s.isVoid(in) && !spec.Accept {
		return run, "the machine was disturbed", nil
	}
	return run, "", nil
}

// noisiness is the factor of the noise of a state: that of its noisiest change.
func (s *site) noisiness(in Set) float64 {
	most := 1.0
	for k, c := range s.candidates {
		if c.Noise > most && in.Has(k) {
			most = c.Noise
		}
	}
	return most
}

// rhythm is what regular disturbances do to the ln(score) of a run that begins now.
func (s *site) rhythm(load time.Duration) float64 {
	y := 0.0
	if s.EveryFourth && disturbed(s.now, load) {
		y += math.Log(1 - disturbLoss)
	}
	if s.EveryThird > 0 && s.all%3 == 0 {
		y += math.Log(1 - s.EveryThird)
	}
	if s.Sine > 0 {
		at := s.now.Add(load/2).Sub(s.began) + s.phase
		y += s.Sine * math.Sin(2*math.Pi*at.Seconds()/s.Period.Seconds())
	}
	if s.Faster && s.now.Sub(s.began) > s.search.middle() {
		y += 0.10
	}
	return y
}

// Periods of a sine that is drawn.
const (
	leastPeriod = 13 * time.Second
	mostPeriod  = 60 * time.Second
)

// drawSine draws the phase of the sine, and its period if the world does not have it.
func (s *site) drawSine() {
	if s.Period == 0 {
		s.Period = leastPeriod + time.Duration(s.rng.Int64N(int64(mostPeriod-leastPeriod)))
	}
	s.phase = time.Duration(s.rng.Int64N(int64(s.Period)))
}

// scored is the score of a run as the load generator prints it.
func (s *site) scored(y float64) float64 {
	switch {
	case s.Step > 0: // × (1 + Step) from one score to the next
		step := math.Log1p(s.Step)
		return math.Exp(math.Round(y/step) * step)
	case s.Whole:
		return math.Round(math.Exp(y))
	}
	return math.Exp(y)
}

// printed is the mean ln(score) that runs of a state print, without what disturbs them, above
// that of a site with a score of 1. Where scores are whole or come in steps it is a little off
// the true one, and a ratio of scores is one of what is printed.
func (s *site) printed(in Set, load time.Duration) float64 {
	y := math.Log(10_000) + s.truth.Score(in, s.long(load))
	sigma := s.Sigma * s.noisiness(in) * s.averaged(load) // no world has steps and bursts
	if s.Step <= 0 || sigma == 0 {
		return math.Log(s.scored(y))
	}
	step := math.Log1p(s.Step)
	sum, below := 0.0, 0.0
	for k := math.Floor((y - 6*sigma) / step); k*step < y+6*sigma+step; k++ {
		upTo := stats.NormalCDF(((k+0.5)*step - y) / sigma)
		sum, below = sum+k*step*(upTo-below), upTo
	}
	return sum
}

// averaged is the share of a short run's noise that a run has. Longer runs average their
// noise, but not all of it: what differs from run to run stays.
func (s *site) averaged(load time.Duration) float64 {
	return math.Sqrt((1 + float64(s.search.Options.Short)/float64(load)) / 2)
}

// isVoid reports whether a run does not count.
func (s *site) isVoid(in Set) bool {
	share := s.Voids
	for k, c := range s.candidates {
		if c.Voids > 0 && in.Has(k) {
			share = 1 - (1-share)*(1-c.Voids)
		}
	}
	return share > 0 && s.rng.Float64() < share
}

// spoil gives a run the failures and errors that any state of the site has.
func (s *site) spoil(run *iikanji.Run) {
	if s.search.Fails > 0 && s.rng.Float64() < s.search.Fails {
		run.Outcome, run.Score = iikanji.Failed, 0
		run.Reasons = []string{"a check failed by chance"}
	}
	if s.search.Errors > 0 {
		share := s.search.Errors * math.Exp(0.5*s.rng.NormFloat64())
		run.Steps[0].Errors = int64(math.Round(share * float64(run.Steps[0].Count)))
	}
}

// countNoise is the noise of a counter per request, as a share of the score's.
const countNoise = 0.1

// cores of a simulated machine.
const cores = 2

// count gives a run its requests, the CPU time of each service and the database's counter,
// if the site knows its work.
func (s *site) count(run *iikanji.Run, in Set) {
	work, ok := s.truth.(Worker)
	if !ok && !s.search.Counts {
		return
	}
	// The untouched site answers 1,000 requests a second.
	run.Steps[0].Count = max(1, int64(run.Score/10*run.Took.Seconds()))
	requests := float64(run.Steps[0].Count)
	blur := func() float64 { return math.Exp(countNoise * s.Sigma * s.rng.NormFloat64()) }
	if s.search.Counts {
		rows := 100.0
		for k, c := range s.candidates {
			if c.Rows > 0 && in.Has(k) {
				rows *= c.Rows
			}
		}
		run.Counts = map[string]float64{"rows examined": requests * rows * blur()}
	}
	if ok {
		for r, w := range work.Work(in) {
			if r := Resource(r); r.usesCPU() {
				seconds := w * requests / 1000 * blur()
				run.Usage = append(run.Usage, iikanji.Usage{Who: r.String(), User: time.Duration(seconds * float64(time.Second)),
					Share: seconds / run.Took.Seconds() / cores})
			}
		}
	}
}

// Observe implements tune.Field: every candidate that is not in force is found.
func (s *site) Observe(ctx context.Context, spec load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	s.pass(s.search.overhead() + spec.Load)
	s.all++
	d := &diagnose.Diagnosis{Run: &iikanji.Run{}, CPU: 1, Statements: 1}
	in := s.inForce()
	seconds := 1.0 // of all CPUs
	work, ok := s.truth.(Worker)
	if ok {
		seconds, d.Binding = use(d.Run, work.Busy(in), spec.Load)
	}
	for _, k := range s.search.order(s.rng, len(s.candidates)) {
		if s.isOn(k) {
			continue
		}
		c := s.candidates[k]
		share := 1 - math.Exp(-c.Promise)
		if ok {
			share = max(share, work.Touched(in, k))
		}
		d.Findings = append(d.Findings, iikanji.Finding{Code: c.code(), Where: place(k), Claim: place(k) + " is slow",
			Gain: iikanji.Range{Lo: share * seconds, Hi: share * seconds}, Remedies: []iikanji.Remedy{c.remedy(k)}})
	}
	return d, nil, ctx.Err()
}

// limitShare is the use of a resource from which it is the limit.
const limitShare = 0.75

// use gives an observed run the CPU time of its services. It returns the CPU time of all
// and the limit.
func use(run *iikanji.Run, busy [Resources]float64, load time.Duration) (seconds float64, limit string) {
	most := limitShare
	for i, share := range busy {
		r := Resource(i)
		if share > most {
			most, limit = share, r.limit()
		}
		if r.usesCPU() {
			cpu := share * load.Seconds()
			seconds += cpu
			run.Usage = append(run.Usage, iikanji.Usage{Who: r.String(), Share: share / cores,
				User: time.Duration(cpu * float64(time.Second))})
		}
	}
	return seconds, limit
}

// place is the file of the k-th candidate.
func place(k int) string { return fmt.Sprintf("k%02d", k) }

// Rehearse implements tune.Field.
func (s *site) Rehearse(context.Context) (load.Rehearsal, error) {
	s.pass(s.search.overhead())
	return load.Rehearsal{Done: true, OK: true, Says: "all came back"}, nil
}

// SameAnswers implements tune.Comparer. It takes two short runs; a rewrite that answers
// otherwise is found out.
func (s *site) SameAnswers(ctx context.Context, spec load.AnswerSpec) (load.AnswerReport, error) {
	s.pass(2 * (s.search.overhead() + spec.Load))
	if err := spec.Swap(ctx, true); err != nil {
		return load.AnswerReport{}, err
	}
	report := load.AnswerReport{Answered: iikanji.Answered{Requests: 1000, Routes: 10}}
	for k, c := range s.candidates {
		if c.Differs && s.isOn(k) {
			report.Unlike = append(report.Unlike,
				load.Unlike{Request: "GET /" + place(k), Why: "another body", Old: "a", New: "b"})
			return report, spec.Swap(ctx, false)
		}
	}
	return report, nil
}

// plan makes the change of a remedy.
func (s *site) plan(_ context.Context, r iikanji.Remedy) (*iikanji.Change, error) {
	k, err := s.candidateOf(r)
	if err != nil {
		return nil, err
	}
	if s.isOn(k) {
		return nil, change.ErrNothing
	}
	where, c := s.candidates[k].place(k), s.candidates[k]
	planned := &iikanji.Change{Kind: "simulated", Target: r.Target, Says: r.Says, Worth: change.WorthLine,
		Simplifies: c.Simplifies}
	if c.Kind != Index {
		planned.Remedy = &r
	}
	edit := change.Edit{Path: where, New: []byte(c.content(k))}
	if old := s.files[where]; old != "" {
		edit.Old = []byte(old)
	}
	change.FromEdits(planned, iikanji.VerbUnknown, edit)
	return planned, nil
}

// candidateOf is the candidate whose remedy it is.
func (s *site) candidateOf(r iikanji.Remedy) (int, error) {
	if k, ok := s.keys[search.KeyOf(r)]; ok {
		return k, nil
	}
	return 0, fmt.Errorf("no candidate has the remedy %q", r.Says)
}

// State implements change.Hands.
func (s *site) State(_ context.Context, op iikanji.Op) (iikanji.Fingerprint, error) {
	switch body := s.files[op.Place]; body {
	case "":
		return change.Absent, nil
	case switchedOn:
		return on, nil
	default:
		return change.FingerprintOf([]byte(body)), nil
	}
}

// switchedOn is the content of a file whose candidate is in force, and on its fingerprint.
const switchedOn = "on"

var on = change.FingerprintOf([]byte(switchedOn))

// Content implements change.Hands.
func (s *site) Content(_ context.Context, op iikanji.Op) (string, error) {
	return s.files[op.Place], nil
}

// Perform implements change.Hands.
func (s *site) Perform(_ context.Context, op iikanji.Op) error {
	if op.Verb == iikanji.Remove {
		delete(s.files, op.Place)
	} else {
		s.files[op.Place] = op.Body
	}
	return nil
}
