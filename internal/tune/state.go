package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/judge"
	"github.com/iikanji/iikanji/internal/stats"
)

// state is what a search knows: one part for each of its jobs.
type state struct {
	ledger ledger // what outlives the search
	budget
	evidence
	queue
	stale  bool // the bottleneck may have moved: observe again
	moved  bool // a change of a small effect was kept since the last observation
	voids  int  // in a row
	accept bool // disturbed runs count
	view   View
	notes  []string
	rng    *rand.Rand // of the order of runs and their rests
	before [2]int     // runs of earlier searches on this history, and the void ones
	first  int        // attempts of earlier searches
}

// An evidence is the runs that verdicts rest on.
type evidence struct {
	judge     judge.Judge
	aa        []*iikanji.Run // of the calibration
	untouched []*iikanji.Run // short runs of the untouched site
	incumbent []*iikanji.Run // short runs of the present state
	fresh     *iikanji.Run   // the incumbent's latest run, if nothing was changed since
	past      [][]judge.Pair // of earlier trials
	known     map[judge.FaultKey]iikanji.Fault
	earlier   judge.Record // of the incumbent's runs
}

// begin empties the state at the start of a search.
func (t *Tuner) begin() {
	t.state = state{budget: budget{options: t.Options, now: t.Now, began: t.Now()}, stale: true}
	t.rng = rand.New(rand.NewPCG(t.Options.Seed, 1))
	t.reserve = t.weakKeeps
	t.known = map[judge.FaultKey]iikanji.Fault{}
	t.nothing = t.nothingKept
	t.queue = queue{options: t.Options, ledger: &t.ledger, evidence: &t.evidence}
}

// nothingKept reports that no change is in force but perhaps one that is not
// confirmed.
func (t *Tuner) nothingKept() bool {
	open := 0
	if o := t.ledger.Open; o != nil && o.Attempt < len(t.ledger.Attempts) {
		open = len(t.ledger.standing(&t.ledger.Attempts[o.Attempt]))
	}
	return len(t.ledger.InForce) == open
}

// remember adds the faults of a run of the incumbent to the known ones.
func (e *evidence) remember(r *iikanji.Run) {
	for _, f := range r.Faults {
		if _, ok := e.known[judge.KeyOf(f)]; !ok {
			e.known[judge.KeyOf(f)] = f
		}
	}
}

// learn estimates the noise from the calibration and from past trials, and the
// effects of changes from the attempts so far.
func (t *Tuner) learn() {
	t.judge = judge.NewJudge(judge.Noise(t.aa, t.past...))
	t.judge.Slope = judge.LearnSlope(append(slices.Clone(t.past), judge.PairRuns(t.aa))...)
	var tried []judge.Tried
	for _, a := range t.ledger.Attempts {
		if v := a.Verdict; v.Effect.Level > 0 && a.Kind() != bundleKind && !a.Fast && len(v.Tried) > 1 {
			se := (v.Effect.Hi - v.Effect.Lo) / 2 / stats.NormalQuantile(1-t.judge.Looks.Level(len(v.Tried)))
			tried = append(tried, judge.Tried{Effect: v.Effect.Mid, SE: se})
		}
	}
	t.judge.Effects = judge.Learn(tried)
}

// show edits the view and passes it on.
func (t *Tuner) show(edit func(v *View)) {
	edit(&t.view)
	v := &t.view
	v.Score, v.First, v.Runs, v.Left = geomean(t.incumbent), geomean(t.untouched), t.ledger.Runs, 0
	v.Kept, v.Tried = 0, 0
	for _, a := range t.ledger.Attempts {
		if a.Skipped == "" {
			v.Tried++
		}
		if callOf(a) == iikanji.Keep.String() { // provisional attempts do not count
			v.Kept++
		}
	}
	if t.Options.Time > 0 {
		v.Left = max(0, t.Options.Time-t.Now().Sub(t.began))
	}
	if t.Show != nil {
		t.Show(*v)
	}
}

// geomean is the geometric mean of the scores of runs; 0 for none.
func geomean(runs []*iikanji.Run) float64 {
	y := judge.LogScores(runs)
	if len(y) == 0 {
		return 0
	}
	return math.Exp(stats.Mean(y))
}

func (t *Tuner) say(format string, args ...any) {
	if t.Say != nil {
		t.Say(fmt.Sprintf(format, args...))
	}
}

// note is say, and keeps the line for the outcome.
func (t *Tuner) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	t.notes = append(t.notes, line)
	t.say("%s", line)
}

// untouchedOf selects the runs of the site without any change in force.
func untouchedOf(runs []*iikanji.Run) []*iikanji.Run {
	sum := sha256.Sum256(nil) // the fingerprint of no places
	untouched := iikanji.Fingerprint(hex.EncodeToString(sum[:]))
	return slices.DeleteFunc(slices.Clone(runs), func(r *iikanji.Run) bool { return r.State != untouched })
}

func (e *evidence) knownFaults() []iikanji.Fault {
	var all []iikanji.Fault
	for _, f := range e.known {
		all = append(all, f)
	}
	return all
}
