package summary

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// A Trial is one attempt of a search: a change, or several together.
type Trial struct {
	N       int                `json:"n"` // from 1
	Changes []iikanji.ChangeID `json:"changes,omitempty"`
	Says    string             `json:"says"`
	Parts   []string           `json:"parts,omitempty"`  // of a bundle
	Causes  []string           `json:"causes,omitempty"` // of the parts: code and place
	Code    iikanji.Code       `json:"code,omitempty"`
	Where   string             `json:"where,omitempty"`
	Claim   string             `json:"claim,omitempty"`
	// Result is keep, revert, inconclusive, parked, provisional, dropped, undone or
	// not tried.
	Result  string          `json:"result"`
	Verdict iikanji.Verdict `json:"verdict"`
	Skipped string          `json:"skipped,omitempty"`
	Runs    int             `json:"runs"`
	Took    time.Duration   `json:"took_ns"`
	// Base is the geometric mean of the incumbent's scores, 0 if not known.
	Base float64 `json:"base_score,omitempty"`
}

// A Change is one change with its evidence, its diff and what became of it.
type Change struct {
	ID      iikanji.ChangeID  `json:"id"`
	Kind    string            `json:"kind"`
	Target  string            `json:"target"`
	Code    iikanji.Code      `json:"code,omitempty"`
	Says    string            `json:"says"`
	Stage   iikanji.Stage     `json:"stage"`
	Risk    iikanji.Risk      `json:"risk"`
	Weakens []iikanji.Promise `json:"weakens,omitempty"`
	Trial   int               `json:"trial,omitempty"` // number of its latest Trial
	// Claim and Evidence are of the finding that it answers, as of the latest
	// observed run before it was planned.
	Claim    string             `json:"claim,omitempty"`
	Evidence []iikanji.Evidence `json:"evidence,omitempty"`
	Diff     string             `json:"diff"`
	Verdict  *iikanji.Verdict   `json:"verdict,omitempty"`
	Moves    []Move             `json:"moves"`

	made int64 // sequence number of the event
}

// A Move is a stage that a change reached.
type Move struct {
	At    time.Time     `json:"at"`
	Stage iikanji.Stage `json:"stage"`
	Why   string        `json:"why,omitempty"`
}

// Tried reports whether the trial had runs.
func (t *Trial) Tried() bool { return t.Skipped == "" }

// changes reads all changes.
func (l *loader) changes() error {
	all, err := l.h.Changes()
	if err != nil {
		return err
	}
	at := map[iikanji.ChangeID]int{}
	for _, c := range all {
		x := Change{ID: c.ID, Kind: c.Kind, Target: c.Target, Code: c.Answers, Says: c.Says, Stage: c.Stage, Risk: c.Risk, Weakens: c.Weakens}
		if x.Diff, err = l.h.Diff(c.ID); err != nil {
			x.Diff = change.Diff(c) // from the same data
		}
		if x.Verdict, err = l.h.LoadVerdict(c.ID); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		at[c.ID] = len(l.s.Changes)
		l.s.Changes = append(l.s.Changes, x)
	}
	for _, e := range l.h.Events() {
		i, ok := at[e.Change]
		if !ok {
			continue
		}
		x := &l.s.Changes[i]
		switch e.What {
		case history.ChangeMade:
			x.made = e.Seq
			x.Moves = append(x.Moves, Move{e.At, iikanji.Planned, e.Text})
		case history.Staged:
			x.Moves = append(x.Moves, Move{e.At, e.Stage, e.Text})
		}
	}
	return nil
}

// trials reads the attempts of the searches, and gives their runs their parts.
func (l *loader) trials() error {
	for i, a := range l.rec.Attempts {
		c := a.Candidate
		t := Trial{N: i + 1, Changes: a.Changes, Says: a.Says, Code: c.Code, Where: c.Where, Claim: c.Claim, Result: a.Result(),
			Verdict: a.Verdict, Skipped: a.Skipped, Runs: a.Runs, Took: a.Took}
		if a.HasSeveral() { // the sentence repeats the parts
			for _, p := range a.Planned() {
				t.Parts, t.Causes = append(t.Parts, p.Says), append(t.Causes, p.Cause)
			}
			t.Says = strings.Join(t.Parts, "; ")
		}
		t.Base = meanScore(l.s, a.Verdict.Base)
		for _, id := range a.Changes {
			l.explain(id, &t, &a)
		}
		l.s.Trials = append(l.s.Trials, t)
	}
	l.placeRuns()
	return nil
}

// explain adds the trial and the evidence to a change of an attempt.
func (l *loader) explain(id iikanji.ChangeID, t *Trial, a *search.Attempt) {
	i := slices.IndexFunc(l.s.Changes, func(c Change) bool { return c.ID == id })
	if i < 0 {
		return
	}
	c := &l.s.Changes[i]
	c.Trial, c.Claim = t.N, a.Candidate.Claim
	code, where := a.Candidate.Code, a.Candidate.Where
	if p := a.PartOf(id); p != nil && a.HasSeveral() {
		code, where, c.Claim = p.Code(), p.Where(), ""
	}
	if c.Code == "" {
		c.Code = code
	}
	for _, o := range slices.Backward(l.s.Observed) {
		if l.states[o.Run].seq > c.made {
			continue
		}
		for _, f := range o.Findings {
			if f.Code == code && f.Where == where {
				c.Claim, c.Evidence = f.Claim, f.Evidence
				return
			}
		}
	}
}

// placeRuns gives the runs of trials their parts. A run with the candidate is found
// by the state of the site, because a verdict names only the runs that counted.
// A run without it is in the verdict; the same run may be named by the verdict of an
// earlier change that it confirms, or of a later one that it is compared with.
func (l *loader) placeRuns() {
	first, last := map[int]int{}, map[int]int{} // index of the runs with each trial's candidate
	for i := range l.s.Runs {
		r := &l.s.Runs[i]
		if r.Part != PartSingle {
			continue
		}
		if n := l.candidate(r); n > 0 {
			r.Part, r.Trial = PartWith, n
			if _, ok := first[n]; !ok {
				first[n] = i
			}
			last[n] = i
		}
	}
	for _, t := range l.s.Trials {
		for _, id := range t.Verdict.Base {
			i := slices.IndexFunc(l.s.Runs, func(r Run) bool { return r.ID == id })
			if i < 0 || i < first[t.N]-1 || i > last[t.N]+1 {
				continue
			}
			if r := &l.s.Runs[i]; r.Part == PartSingle || r.Part == PartWith && r.Trial < t.N {
				r.Part, r.Trial = PartWithout, t.N
			}
		}
	}
	for _, t := range l.s.Trials {
		l.place(t.Verdict.Tried, PartWith, t.N)
		l.place(t.Verdict.Base, PartWithout, t.N)
	}
}

// candidate is the latest trial with a change that was applied, and not yet kept, when
// the run began; 0 for none.
func (l *loader) candidate(r *Run) int {
	for _, t := range slices.Backward(l.s.Trials) {
		for _, id := range t.Changes {
			if slices.Contains(r.With, id) && !slices.Contains(l.states[r.ID].kept, id) {
				return t.N
			}
		}
	}
	return 0
}
