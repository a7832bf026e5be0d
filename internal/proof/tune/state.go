package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// parts are what one search knows and does, each with one job.
type parts struct {
	shared
	*restorer
	*runner
	*planner
	*queue
	*fastLane
}

// shared is what the parts of a search have in common.
type shared struct {
	*budget
	*evidence
	*records
	*display
}

// A display shows the search to its caller and keeps what the outcome repeats.
type display struct {
	onView  func(View)
	onLine  func(line string)
	figures func(v *View) // fills in the scores, counts and times
	view    View
	notes   []string
	shown   *TimePlan // the plan as it was shown; nil if there is none
}

// records are what a search reads and writes in the history.
type records struct {
	store Store
	*evidence
	ledger ledger // what outlives the search
	before [2]int // runs of earlier searches on this history, and the void ones
	first  int    // attempts of earlier searches
	// calibrated is how many calibration runs of earlier searches are still valid.
	calibrated int
}

// A restorer brings the site into the state that the ledger has, and takes changes
// in force back.
type restorer struct {
	shared
	acts *change.Executor
	site *change.Site
}

// A runner runs the site and adds each run to the evidence.
type runner struct {
	*restorer
	field  Field
	rng    *rand.Rand // of the order of runs and their rests
	voids  int        // in a row
	accept bool       // disturbed runs count
	// back is the run of the untouched site right after a run of a candidate that the
	// fast lane accepted, backAt the number of runs until then.
	back   *iikanji.Run
	backAt int
}

// A planner turns candidates into changes.
type planner struct {
	shared
	*restorer
	*queue
	make      func(ctx context.Context, r iikanji.Remedy) (*iikanji.Change, error)
	whichFile func(ctx context.Context, refused *change.WhichFileError) (_ iikanji.Remedy, ok bool, err error)
}

// A fastLane decides on a change that one high score has let in before its proof.
type fastLane struct {
	*runner
	*queue
}

// A forecast predicts what trials can prove.
type forecast struct {
	*budget
	*evidence
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

// begin makes the parts of a new search.
func (t *Tuner) begin() {
	e := &evidence{known: map[judge.FaultKey]iikanji.Fault{}}
	rec := &records{store: t.History, evidence: e}
	b := &budget{options: t.Options, now: t.Now, began: t.Now(), reserve: rec.ledger.weakKeeps, nothing: rec.ledger.nothingKept}
	s := shared{b, e, rec, &display{onView: t.Show, onLine: t.Say}}
	s.display.figures = s.figures
	site := &restorer{s, t.Acts, t.Site}
	run := &runner{restorer: site, field: t.Field, rng: rand.New(rand.NewPCG(t.Options.Seed, 1))}
	q := &queue{shared: s, stale: true}
	t.parts = parts{s, site, run, &planner{s, site, q, t.Plan, t.WhichFile}, q, &fastLane{run, q}}
}

// nothingKept reports that no change is in force but perhaps one that is not
// confirmed.
func (b *ledger) nothingKept() bool {
	open := 0
	if o := b.Open; o != nil && o.Attempt < len(b.Attempts) {
		open = len(b.inForceOf(&b.Attempts[o.Attempt]))
	}
	return len(b.InForce) == open
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
func (rec *records) learn() {
	e := rec.evidence
	e.judge = judge.NewJudge(judge.Noise(e.aa, e.past...))
	e.judge.Slope = judge.LearnSlope(append(slices.Clone(e.past), judge.PairRuns(e.aa))...)
	var tried []judge.Tried
	for _, a := range rec.ledger.Attempts {
		if v := a.Verdict; v.Effect.Level > 0 && a.Kind() != bundleKind && !a.Fast && len(v.Tried) > 1 {
			se := (v.Effect.Hi - v.Effect.Lo) / 2 / stats.NormalQuantile(1-e.judge.Looks.Level(len(v.Tried)))
			tried = append(tried, judge.Tried{Effect: v.Effect.Mid, SE: se})
		}
	}
	e.judge.Effects = judge.Learn(tried)
}

// show edits the view and passes it on.
func (d *display) show(edit func(v *View)) {
	edit(&d.view)
	d.figures(&d.view)
	if d.onView != nil {
		d.onView(d.view)
	}
}

// figures fills in the scores, counts and times of a view.
func (s shared) figures(v *View) {
	v.Score, v.First, v.Runs, v.Left = geomean(s.incumbent), geomean(s.untouched), s.ledger.Runs, 0
	v.Kept, v.Tried = 0, 0
	for _, a := range s.ledger.Attempts {
		if a.Skipped == "" {
			v.Tried++
		}
		if callOf(a) == iikanji.Keep.String() { // provisional attempts do not count
			v.Kept++
		}
	}
	if s.options.Time > 0 {
		v.Left = max(0, s.options.Time-s.now().Sub(s.began))
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

func (d *display) say(format string, args ...any) {
	if d.onLine != nil {
		d.onLine(fmt.Sprintf(format, args...))
	}
}

// note is say, and keeps the line for the outcome.
func (d *display) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	d.notes = append(d.notes, line)
	d.say("%s", line)
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
