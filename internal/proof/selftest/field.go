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
)

// A site is a simulated site: its candidates are files, each with an effect on
// the score. It implements tune.Field and change.Hands.
type site struct {
	machine
	store
	search  Search
	now     time.Time
	files   map[string]string
	effects map[string]float64 // on ln(score), by file
	trials  bool               // the calibration is over
	began   time.Time
}

// defaultOverhead is the time of a run beyond its load unless the search has its own.
const defaultOverhead = 3 * time.Second

// overhead is the time of a run beyond its load.
func (s *site) overhead() time.Duration { return cmp.Or(s.search.Overhead, defaultOverhead) }

// pass moves the clock.
func (s *site) pass(d time.Duration) { s.now = s.now.Add(d) }

// Bench implements tune.Field.
func (s *site) Bench(ctx context.Context, spec load.Spec) (*iikanji.Run, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	s.pass(s.overhead() + spec.Rest)
	s.trials = s.trials || spec.Trial
	y := math.Log(10_000) + s.truth()
	// Longer runs average their noise, but not all of it: what differs from run to run stays.
	noise := s.noise(spec.Trial, !s.trials)
	y += noise * math.Sqrt((1+float64(s.search.Options.Short)/float64(spec.Load))/2)
	if s.EveryFourth && disturbed(s.now, spec.Load) {
		y += math.Log(1 - disturbLoss)
	}
	if s.Faster && s.now.Sub(s.began) > s.search.middle() {
		y += 0.10
	}
	run := &iikanji.Run{Began: s.now, Took: spec.Load, State: spec.State, Outcome: iikanji.Passed, Score: math.Exp(y),
		Steps: []iikanji.StepStat{{Count: 10_000}}}
	s.spoil(run)
	s.pass(spec.Load)
	s.addRun(run)
	return run, "", nil
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

// truth is the sum of the effects in force.
func (s *site) truth() float64 {
	sum := 0.0
	for k := range s.search.Candidates { // in one order: a sum of floats depends on it
		if name := place(k); s.files[name] != "" {
			sum += s.effects[name]
		}
	}
	return sum
}

// Observe implements tune.Field: every candidate that is not in force is found.
func (s *site) Observe(ctx context.Context, spec load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	s.pass(s.overhead() + spec.Load)
	d := &diagnose.Diagnosis{Run: &iikanji.Run{}, CPU: 1, Statements: 1}
	for _, k := range s.search.order(s.rng, len(s.search.Candidates)) {
		c := s.search.Candidates[k]
		name := place(k)
		if s.files[name] != "" {
			continue
		}
		share := 1 - math.Exp(-c.Promise)
		d.Findings = append(d.Findings, iikanji.Finding{Code: "DB101", Where: name, Claim: name + " is slow", Gain: iikanji.Range{Lo: share, Hi: share},
			Remedies: []iikanji.Remedy{{Kind: "ddl", Target: "site", Says: "change " + name,
				Args: map[string]string{"act": "add index", "schema": "s", "table": name, "columns": "c"}}}})
	}
	return d, nil, ctx.Err()
}

// place is the file of the k-th candidate.
func place(k int) string { return fmt.Sprintf("k%02d", k) }

// Rehearse implements tune.Field.
func (s *site) Rehearse(context.Context) (load.Rehearsal, error) {
	s.pass(s.overhead())
	return load.Rehearsal{Done: true, OK: true, Says: "all came back"}, nil
}

// plan makes the change of a remedy.
func (s *site) plan(_ context.Context, r iikanji.Remedy) (*iikanji.Change, error) {
	name := r.Args["table"]
	c := &iikanji.Change{Kind: "simulated", Target: r.Target, Says: r.Says, Worth: change.WorthLine}
	change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Path: name, New: []byte("on")})
	if s.files[name] != "" {
		return nil, change.ErrNothing
	}
	return c, nil
}

// State implements change.Hands.
func (s *site) State(_ context.Context, op iikanji.Op) (iikanji.Fingerprint, error) {
	if body := s.files[op.Place]; body != "" {
		return on, nil
	}
	return change.Absent, nil
}

// on is the fingerprint of the file of a candidate in force.
var on = change.FingerprintOf([]byte("on"))

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
