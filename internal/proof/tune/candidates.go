package tune

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
)

// A Candidate is a remedy that may be worth a trial.
type Candidate struct {
	Remedy iikanji.Remedy `json:"remedy"`
	Code   iikanji.Code   `json:"code,omitempty"` // of the finding whose remedy it is
	Claim  string         `json:"why"`            // the finding's claim, or the proposer's command
	Where  string         `json:"where,omitempty"`
	// Gain is the expected gain on ln(score) if it is kept, and Chance that it is.
	Gain   float64 `json:"gain"`
	Chance float64 `json:"chance"`
	// Proposed: it comes from a proposer, not from a finding.
	Proposed bool `json:"proposed,omitempty"`

	key   string // cache of Key
	known *nature
}

// A nature is what the declared act of a candidate's remedy says about its trial.
type nature struct {
	blinds   bool // sensors see less once it is applied
	rewrites bool // it changes the source of an app
	apart    bool // it is planned from all of the source
}

func natureOf(r iikanji.Remedy) nature {
	act, err := change.Match(r)
	return nature{err == nil && len(act.Blinds) > 0, err == nil && act.Rewrites, err == nil && act.Apart}
}

// Key identifies a candidate: the same remedy is not tried twice while the
// bottleneck is the same.
func (c Candidate) Key() string {
	if c.key != "" {
		return c.key
	}
	return keyOfRemedy(c.Remedy)
}

// cached fills the caches: the ranking reads both for each pair of candidates.
func (c Candidate) cached() Candidate {
	n := natureOf(c.Remedy)
	c.key, c.known = keyOfRemedy(c.Remedy), &n
	return c
}

func (c Candidate) nature() nature {
	if c.known != nil {
		return *c.known
	}
	return natureOf(c.Remedy)
}

// blinds reports whether sensors see less once the candidate is applied.
func (c Candidate) blinds() bool { return c.nature().blinds }

// cause names the finding.
func (c Candidate) cause() string { return string(c.Code) + " " + c.Where }

func keyOfRemedy(r iikanji.Remedy) string {
	parts := []string{r.Kind, r.Target}
	for k, v := range r.Args {
		if k != "weakens" { // known from the run; not a part of the remedy
			parts = append(parts, k+"="+v)
		}
	}
	slices.Sort(parts[2:])
	return strings.Join(parts, "\x1f")
}

// remedyOf is the remedy of a key, without its words.
func remedyOf(key string) iikanji.Remedy {
	parts := strings.Split(key, "\x1f")
	r := iikanji.Remedy{Kind: parts[0], Args: map[string]string{}}
	if len(parts) < 2 {
		return r
	}
	r.Target = parts[1]
	for _, p := range parts[2:] {
		name, value, _ := strings.Cut(p, "=")
		r.Args[name] = value
	}
	return r
}

// maxSaved bounds the share of the binding resource that a single remedy is
// expected to save: a share of 1 would mean an infinite gain.
const maxSaved = 0.9

// Candidates are the remedies of a diagnosis with their expected gains: saving
// the share s of the binding resource makes room for 1/(1−s) of the work.
// Remedies of findings outside of the bottleneck rank low because their gain is
// small; there is no separate rule for them.
//
// Where a site leaves work out, doing it brings nothing at least and all of it at most,
// so that half of it is expected.
//
// refused are the remedies that cannot be tried.
func Candidates(d *diagnose.Diagnosis) (cs []Candidate, refused []Refusal) {
	seen := map[string]bool{}
	for _, f := range d.Findings {
		saved := savedBy(d, f)
		for _, r := range f.Remedies {
			c := Candidate{Remedy: r, Code: f.Code, Claim: f.Claim, Where: f.Where}
			if seen[c.Key()] {
				continue
			}
			seen[c.Key()] = true
			act, err := change.Match(r)
			if err != nil {
				refused = append(refused, Refusal{c, err})
				continue
			}
			c.Chance, c.Gain = act.Belief.Chance, max(act.Belief.Gain, -math.Log(1-saved), f.More/2)
			cs = append(cs, c.cached())
		}
	}
	return cs, refused
}

// A Refusal is a remedy that cannot be tried, with the reason.
type Refusal struct {
	Candidate
	Err error
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
	return min(maxSaved, (f.Gain.Lo+f.Gain.Hi)/2/of*part)
}

// runsFor is how many runs a trial of an expected effect costs; sd is the noise
// of a pair: three runs with the fast lane, two pairs for a large effect, more
// for a small one, and never more than the last look.
func runsFor(gain, sd float64) float64 {
	if sd <= 0 {
		sd = 0.05
	}
	if gain > 6*sd { // the run, the incumbent's run after it, and one for the confirmation
		return 3
	}
	return 2 * min(8, max(2, 6.2*sd*sd/(gain*gain)))
}

// Ranked sorts candidates by expected gain per run, best first. Candidates that
// blind sensors come last: later diagnoses need the logs.
func Ranked(cs []Candidate, sd float64) []Candidate {
	cs = slices.Clone(cs)
	worth := func(c Candidate) float64 { return c.Chance * c.Gain / (runsFor(c.Gain, sd) + c.extraRuns()) }
	slices.SortStableFunc(cs, func(a, b Candidate) int {
		switch ba, bb := a.blinds(), b.blinds(); {
		case ba && !bb:
			return 1
		case bb && !ba:
			return -1
		}
		return cmp.Compare(worth(b), worth(a))
	})
	return cs
}
