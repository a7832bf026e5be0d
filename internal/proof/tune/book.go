package tune

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// ledgerVersion is the version of the ledger's file. In the first one, bundles had their
// parts in parallel lists.
const ledgerVersion = 2

// A book is what is known in a search: its state, with the ledger, and the runs that
// verdicts rest on.
type book struct {
	store Store
	state *search.State
	now   func() time.Time
	began time.Time

	aa        []*iikanji.Run // of the calibration
	untouched []*iikanji.Run // short runs of the untouched site
	incumbent []*iikanji.Run // short runs of the present state
	fresh     *iikanji.Run   // the incumbent's latest run, if nothing was changed since
	past      [][]judge.Pair // of earlier trials
	known     map[judge.FaultKey]iikanji.Fault
	earlier   judge.Record // of the incumbent's runs

	before [2]int // runs of earlier searches on this history, and the void ones
	first  int    // attempts of earlier searches
	// calibrated is how many calibration runs of earlier searches are still valid.
	calibrated int
}

func newBook(store Store, o search.Options, now func() time.Time) *book {
	b := &book{store: store, state: search.NewState(o), now: now, known: map[judge.FaultKey]iikanji.Fault{}}
	if now != nil {
		b.began = now()
	}
	return b
}

// ledger is what outlives the search.
func (b *book) ledger() *search.Ledger { return b.state.Ledger }

// present is the state of the search now.
func (b *book) present() *search.State {
	s := b.state
	s.Spent = b.now().Sub(b.began)
	s.Runs = s.Ledger.Runs - b.before[0]
	s.Score = [2]float64{judge.MeanScore(b.untouched), judge.MeanScore(b.incumbent)}
	s.AA, s.Incumbent = len(b.aa), len(b.incumbent)
	return s
}

// open reads the ledger of an earlier search on this history, if there is one. It returns
// why the runs there do not compare with those of this search; "" if they do.
func (b *book) open() (why string, err error) {
	l, o := b.ledger(), b.state.Options
	err = b.store.ReadLedger(ledgerVersion, l)
	if l.Chosen > o.Short && l.Chosen <= o.Full && l.Chosen == l.Short { // an earlier search has settled on it
		o.Short, b.state.Options.Short = l.Chosen, l.Chosen
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		*l = search.Ledger{}
	case err != nil:
		return "", err
	case l.Short != o.Short:
		why = fmt.Sprintf("the ledger has runs of %s, which do not compare with runs of %s: calibrating again", l.Short, o.Short)
		l.ForgetRuns()
	case l.Basis != o.Basis:
		why = fmt.Sprintf("the ledger has runs under other conditions (%s): calibrating again", l.Basis)
		l.ForgetRuns()
	}
	readTraits(l)
	l.Version, l.Short, l.Basis = ledgerVersion, o.Short, o.Basis
	b.before, b.first = [2]int{l.Runs, l.Voided}, len(l.Attempts)
	return why, nil
}

// recall loads the runs that the ledger names. old: the noise was measured too long ago.
func (b *book) recall() (old bool, err error) {
	l := b.ledger()
	if b.aa, err = b.load(l.AA); err != nil {
		return false, err
	}
	if b.incumbent, err = b.load(l.Incumb); err != nil {
		return false, err
	}
	if b.untouched, err = b.load(l.Untouched); err != nil {
		return false, err
	}
	if len(b.untouched) == 0 {
		b.untouched = untouchedOf(b.aa)
	}
	if n := len(b.aa); n > 0 && b.began.Sub(b.aa[n-1].Began) > b.state.NoiseValid() {
		old, b.aa = true, nil
	}
	for _, pairs := range l.Pairs {
		var trial []judge.Pair
		for _, p := range pairs {
			two, err := b.load([]iikanji.RunID{iikanji.RunID(p[0]), iikanji.RunID(p[1])})
			if err != nil {
				return old, err
			}
			trial = append(trial, judge.Pair{A: two[0], B: two[1]})
		}
		b.past = append(b.past, trial)
	}
	b.learn()
	b.calibrated = len(b.aa)
	return old, nil
}

func (b *book) load(ids []iikanji.RunID) ([]*iikanji.Run, error) {
	var runs []*iikanji.Run
	for _, id := range ids {
		r, err := b.store.LoadRun(id)
		if err != nil {
			return nil, fmt.Errorf("going on with an earlier search: %w", err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// changes loads changes by number.
func (b *book) changes(ids []iikanji.ChangeID) ([]*iikanji.Change, error) {
	var out []*iikanji.Change
	for _, id := range ids {
		c, err := b.store.LoadChange(id)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// save writes the ledger.
func (b *book) save() error {
	l := b.ledger()
	l.AA, l.Incumb, l.Untouched = ids(b.aa), ids(b.incumbent), ids(b.untouched)
	return b.store.SaveLedger(l)
}

func ids(runs []*iikanji.Run) []iikanji.RunID {
	out := make([]iikanji.RunID, 0, len(runs))
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}

// learn estimates the noise from the calibration and from past trials, and the
// effects of changes from the attempts so far.
func (b *book) learn() {
	j := judge.NewJudge(b.state.Usual(judge.Noise(b.aa, b.past...)))
	j.Looks = j.Looks.Scaled(b.ledger().Share())
	series := [][]*iikanji.Run{b.aa}
	if len(b.incumbent) > 0 && !slices.Contains(b.aa, b.incumbent[0]) {
		series = append(series, b.incumbent)
	}
	j.Work = judge.LearnWork(series, b.past...)
	j.Slope = judge.LearnSlope(append(slices.Clone(b.past), judge.PairRuns(b.aa))...)
	var tried []judge.Tried
	for i := range b.ledger().Attempts {
		a := &b.ledger().Attempts[i]
		if v := a.Verdict; v.Effect.Level > 0 && !a.IsBundle() && !a.Fast && len(v.Tried) > 1 {
			se := (v.Effect.Hi - v.Effect.Lo) / 2 / stats.NormalQuantile(1-j.Looks.Level(len(v.Tried)))
			tried = append(tried, judge.Tried{Effect: v.Effect.Mid, SE: se})
		}
	}
	j.Effects = judge.Learn(tried)
	b.state.Judge = j
}

// forgetIncumbent forgets the runs of a state that the site has left. Those of a calibration
// that goes on tell the noise as A/A pairs.
func (b *book) forgetIncumbent() {
	if s := b.state; s.Eager && !s.Known && len(b.aa) > 0 {
		b.past = append(b.past, judge.PairRuns(b.aa))
		s.NoiseRuns += len(b.aa)
		b.aa = nil
	}
	b.incumbent, b.fresh = nil, nil
}

// keptNow begins to count the runs of the site with an attempt's changes, which were kept;
// since are those that it has had.
func (b *book) keptNow(attempt int, before, since judge.Record) {
	b.state.StillKept()
	b.state.Kept = append(b.state.Kept, search.Aftermath{Attempt: attempt, Before: before, Since: since})
}

// IncumbentRan records a run of the incumbent, which may confirm a change that
// the fast lane accepted.
func (b *book) IncumbentRan(run *iikanji.Run) {
	b.remember(run)
	b.incumbent, b.fresh = append(b.incumbent, run), run
	if o := b.ledger().Open; o != nil {
		o.Since = append(o.Since, run.ID)
	}
}

// remember adds the faults of a run of the incumbent to the known ones.
func (b *book) remember(r *iikanji.Run) {
	for _, f := range r.Faults {
		if _, ok := b.known[judge.KeyOf(f)]; !ok {
			b.known[judge.KeyOf(f)] = f
		}
	}
}

func (b *book) knownFaults() []iikanji.Fault {
	var all []iikanji.Fault
	for _, f := range b.known {
		all = append(all, f)
	}
	return all
}

// judged saves the verdict of an attempt with each of its changes.
func (b *book) judged(a *search.Attempt) error {
	if a.Verdict.Call == iikanji.CallUnknown || a.Provisional() { // none yet
		return nil
	}
	for _, id := range a.Changes {
		v := a.Verdict
		v.Change, v.Why = id, verdictText(a)
		if p := a.PartOf(id); v.Call == iikanji.Keep && p != nil && p.Alone != nil {
			v = *p.Alone
			v.Change = id
		}
		if err := b.store.SaveVerdict(id, &v); err != nil {
			return err
		}
	}
	return nil
}

// verdictText is the verdict's sentence as saved with each change.
func verdictText(a *search.Attempt) string {
	n := len(a.Changes)
	switch {
	case !a.HasSeveral():
		return a.Verdict.Why
	case a.Verdict.Call == iikanji.Keep:
		return fmt.Sprintf("tried as one with %d others, unproven alone: %s", n-1, a.Verdict.Why)
	}
	return fmt.Sprintf("tried as one with %d others: %s", n-1, a.Verdict.Why)
}
