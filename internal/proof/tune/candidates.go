package tune

import (
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// traitsOf is what the declared act of a remedy says about its trial.
func traitsOf(r iikanji.Remedy) search.Traits {
	act, err := change.Match(r)
	return search.Traits{Blinds: err == nil && len(act.Blinds) > 0, Rewrites: err == nil && act.Rewrites, Apart: err == nil && act.Apart,
		Prepared: err == nil && act.Prepares}
}

// readTraits looks up the acts of what the ledger has: they may be declared otherwise since.
func readTraits(l *search.Ledger) {
	for i := range l.Attempts {
		a := &l.Attempts[i]
		a.Candidate.Traits = traitsOf(a.Candidate.Remedy)
		for k := range a.Parts {
			a.Parts[k].Traits = traitsOf(a.Parts[k].Remedy)
		}
	}
}

// Candidates are the remedies of a diagnosis with their expected gains: saving
// the share s of the binding resource makes room for 1/(1−s) of the work.
// Remedies of findings outside of the bottleneck rank low because their gain is
// small; there is no separate rule for them.
//
// Where a site leaves work out, doing it brings nothing at least and all of it at most,
// so that half of it is expected.
//
// refused are the remedies that cannot be tried.
//
// Nothing of the machine binds such a site where the run used up no resource: what it leaves out
// is then probably what limits it.
func Candidates(d *diagnose.Diagnosis) (cs []search.Candidate, refused []Refusal) {
	var s search.State // gains depend on no search
	seen := map[string]bool{}
	for _, f := range d.Findings {
		saved := savedBy(d, f)
		for _, r := range f.Remedies {
			c := search.Candidate{Remedy: r, Traits: traitsOf(r), Code: f.Code, Claim: f.Claim, Where: f.Where}
			if seen[c.Key()] {
				continue
			}
			seen[c.Key()] = true
			act, err := change.Match(r)
			if err != nil {
				refused = append(refused, Refusal{c, err})
				continue
			}
			c.Chance, c.Gain = act.Belief.Chance, max(act.Belief.Gain, s.GainOf(saved), f.More/2)
			if f.More > 0 && d.Binding == "" {
				c.Chance = s.Unthrottled(c.Chance)
			}
			cs = append(cs, c.Keyed())
		}
	}
	return cs, refused
}

// A Refusal is a remedy that cannot be tried, with the reason.
type Refusal struct {
	Candidate search.Candidate
	Err       error
}

// savedBy is the share of the stack's CPU time that a remedy would save. A second
// of a statement counts as the share of those services in that CPU time that execute
// statements.
func savedBy(d *diagnose.Diagnosis, f iikanji.Finding) float64 {
	stack, database := 0.0, 0.0
	for _, u := range d.Run.Usage {
		if u.Who == "generator" || u.Who == "other" {
			continue
		}
		s := (u.User + u.System).Seconds()
		if stack += s; slices.Contains(d.Executors, u.Who) {
			database += s
		}
	}
	of, part := stack, 1.0
	if f.Of == iikanji.OfStatements {
		if of = d.Statements; stack > 0 && database > 0 {
			part = database / stack
		}
	}
	if of == 0 {
		of = d.Of(f)
	}
	if of <= 0 {
		return 0
	}
	return (f.Gain.Lo + f.Gain.Hi) / 2 / of * part
}
