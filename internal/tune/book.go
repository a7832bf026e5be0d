package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/judge"
	"github.com/iikanji/iikanji/internal/observe"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/stats"
)

// bookVersion is the version of a Tuner's notes.
const bookVersion = 1

// A book is what a Tuner notes beside the journal, so that the next one goes on
// where it was. Runs are known by number; what stands is the journal's to say.
type book struct {
	Version  int                `json:"version"`
	Basis    string             `json:"basis"` // of the runs: see TuneOptions
	Short    time.Duration      `json:"short_ns"`
	AA       []iikanji.RunID    `json:"aa"`             // calibration runs of one unchanged state
	Attempts []Attempt          `json:"attempts"`       // in the order in which they were tried
	InForce  []iikanji.ChangeID `json:"in_force"`       // in the order in which they were applied
	Away     []iikanji.ChangeID `json:"away,omitempty"` // of them, what a comparison or a drop-one check may have taken away
	Open     *open              `json:"open,omitempty"`
	Wiped    bool               `json:"wiped"` // initialize makes the tables anew
	Pairs    [][][2]int         `json:"pairs"` // of past trials, for the noise
	Incumb   []iikanji.RunID    `json:"incumbent"`
	Runs     int                `json:"runs"`
	Voided   int                `json:"voided"`
}

// open is a change that the fast lane let in and that is not confirmed yet.
type open struct {
	Attempt int             `json:"attempt"` // index
	Bound   float64         `json:"bound"`
	Before  []iikanji.RunID `json:"before"`
	Since   []iikanji.RunID `json:"since"`
}

// state is what a search knows.
type state struct {
	book      book
	began     time.Time
	judge     judge.Judge
	aa        []*iikanji.Run
	untouched []*iikanji.Run // short runs of the untouched site
	incumbent []*iikanji.Run // short runs of the present state
	fresh     *iikanji.Run   // the incumbent's, if nothing has happened since
	past      [][]judge.Pair
	known     map[judge.FaultKey]iikanji.Fault
	diagnosis *observe.Diagnosis
	queue     []Candidate
	stale     bool // the bottleneck may have moved: observe again
	ending    bool // the search is over
	moved     bool // something small was kept since the last observation
	voids     int  // in a row
	cost      time.Duration
	under     string // the key of the candidate under trial
	view      View
	notes     []string
	before    [2]int // runs of earlier searches on this history, and the void ones
}

// freshFor is how long a calibration says what the noise is: the hour of the
// day, and who else is on the machine, change it.
const freshFor = 12 * time.Hour

// open reads the notes of an earlier search on this history, if there are any.
func (t *Tuner) open() error {
	t.state = state{began: t.Now(), stale: true, known: map[judge.FaultKey]iikanji.Fault{}}
	b := &t.book
	switch err := t.History.ReadLedger(bookVersion, b); {
	case errors.Is(err, fs.ErrNotExist):
		*b = book{Version: bookVersion}
	case err != nil:
		return err
	case b.Short != t.Options.Short:
		t.say("the notes of %s runs are of no use for runs of %s: calibrating anew", b.Short, t.Options.Short)
		b.forgetRuns()
	case b.Basis != t.Options.Basis:
		t.say("the notes are of runs under other conditions (%s): calibrating anew", b.Basis)
		b.forgetRuns()
	}
	b.Short, b.Basis = t.Options.Short, t.Options.Basis
	t.before = [2]int{b.Runs, b.Voided}
	return t.recall()
}

// forgetRuns drops what cannot be compared with the runs to come. What stands
// unconfirmed could never be confirmed: it is undone as a trial that was cut off.
func (b *book) forgetRuns() {
	b.AA, b.Incumb, b.Pairs = nil, nil, nil
	if b.Open == nil {
		return
	}
	a := &b.Attempts[b.Open.Attempt]
	b.InForce = slices.DeleteFunc(b.InForce, func(id iikanji.ChangeID) bool { return slices.Contains(a.Changes, id) })
	a.again("the runs that would have confirmed it are of another search")
	b.Open = nil
}

// recall loads the runs that the notes name.
func (t *Tuner) recall() (err error) {
	b := &t.book
	if t.aa, err = t.load(b.AA); err != nil {
		return err
	}
	if t.incumbent, err = t.load(b.Incumb); err != nil {
		return err
	}
	t.untouched = t.ofUntouched(t.aa)
	if n := len(t.aa); n > 0 && t.began.Sub(t.aa[n-1].Began) > freshFor {
		t.say("the noise was measured more than %s ago: calibrating anew", freshFor)
		t.aa = nil
	}
	for _, pairs := range b.Pairs {
		var trial []judge.Pair
		for _, p := range pairs {
			two, err := t.load([]iikanji.RunID{iikanji.RunID(p[0]), iikanji.RunID(p[1])})
			if err != nil {
				return err
			}
			trial = append(trial, judge.Pair{A: two[0], B: two[1]})
		}
		t.past = append(t.past, trial)
	}
	t.learn()
	return nil
}

// ofUntouched are the runs of the site without any change in force.
func (t *Tuner) ofUntouched(runs []*iikanji.Run) []*iikanji.Run {
	sum := sha256.Sum256(nil) // what fingerprint makes of no place at all
	untouched := iikanji.Fingerprint(hex.EncodeToString(sum[:]))
	return slices.DeleteFunc(slices.Clone(runs), func(r *iikanji.Run) bool { return r.State != untouched })
}

func (t *Tuner) load(ids []iikanji.RunID) ([]*iikanji.Run, error) {
	var runs []*iikanji.Run
	for _, id := range ids {
		r, err := t.History.LoadRun(id)
		if err != nil {
			return nil, fmt.Errorf("going on with an earlier search: %w", err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// remember notes the faults that the incumbent shows.
func (t *Tuner) remember(r *iikanji.Run) {
	for _, f := range r.Faults {
		if _, ok := t.known[judge.KeyOf(f)]; !ok {
			t.known[judge.KeyOf(f)] = f
		}
	}
}

// learn takes the noise from calibration and past trials.
func (t *Tuner) learn() {
	t.judge = judge.NewJudge(judge.Noise(append(slices.Clone(t.past), judge.PairRuns(t.aa))...))
}

// save writes the notes.
func (t *Tuner) save() error {
	t.book.AA, t.book.Incumb = ids(t.aa), ids(t.incumbent)
	return t.History.SaveLedger(&t.book)
}

func ids(runs []*iikanji.Run) []iikanji.RunID {
	out := make([]iikanji.RunID, 0, len(runs))
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}

// fingerprint is of every place that a change of this search has touched.
func (t *Tuner) fingerprint(ctx context.Context, more ...*iikanji.Change) (iikanji.Fingerprint, error) {
	places := map[string]iikanji.Op{}
	collect := func(c *iikanji.Change) {
		for _, op := range c.Do {
			if op.Expect != "" {
				places[op.Location()] = op
			}
		}
	}
	for _, id := range t.book.InForce {
		c, err := t.History.LoadChange(id)
		if err != nil {
			return "", err
		}
		collect(c)
	}
	for _, c := range more {
		collect(c)
	}
	sum := sha256.New()
	for _, place := range slices.Sorted(maps.Keys(places)) {
		now, err := t.Site.State(ctx, places[place])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %s\n", place, now)
	}
	return iikanji.Fingerprint(hex.EncodeToString(sum.Sum(nil))), nil
}

func (t *Tuner) say(format string, args ...any) {
	if t.Say != nil {
		t.Say(fmt.Sprintf(format, args...))
	}
}

// note keeps a sentence for the end as well.
func (t *Tuner) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	t.notes = append(t.notes, line)
	t.say("%s", line)
}

// show tells the view where things stand.
func (t *Tuner) show(edit func(v *View)) {
	edit(&t.view)
	v := &t.view
	v.Score, v.First, v.Runs, v.Left = geomean(t.incumbent), geomean(t.untouched), t.book.Runs, 0
	v.Kept, v.Tried = 0, 0
	for _, a := range t.book.Attempts {
		if a.Skipped == "" {
			v.Tried++
		}
		if callOf(a) == iikanji.Keep.String() { // what is provisional is not
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
