package tune

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// observe runs the site with every sensor on and finds candidates.
func (t *Tuner) observe(ctx context.Context) error {
	t.display.show(func(v *View) {
		v.Phase, v.Doing, v.Purpose = "observe", "a run with every sensor on", "where does the time go now?"
	})
	t.book.fresh = nil
	state, err := t.hands.fingerprint(ctx)
	if err != nil {
		return err
	}
	d, known, err := t.Field.Observe(ctx, load.Spec{Load: t.Options.Watch, State: state})
	if err != nil {
		return err
	}
	s := t.book.state
	older := s.Candidates
	found, refused := Candidates(d)
	found = t.place(d, found)
	s.Diagnosed(d.Binding, found)
	t.refuse(refused)
	t.display.say("observed: %d causes, %d remedies that need no patch; the limit is %s", len(d.Findings), len(s.Candidates), cmp.Or(d.Binding, "none of the machine's resources"))
	t.sayWhere(d)
	s.Carry(older)
	if t.Propose == nil {
		return nil
	}
	return t.propose(ctx, d, known)
}

// mostCauses is how many causes are shown of an observed run.
const mostCauses = 2

// sayWhere shows where most of the time goes.
func (t *Tuner) sayWhere(d *diagnose.Diagnosis) {
	found := slices.Clone(d.Findings)
	slices.SortStableFunc(found, func(a, b iikanji.Finding) int { return cmp.Compare(b.Gain.Hi, a.Gain.Hi) })
	for _, f := range found[:min(mostCauses, len(found))] {
		if f.Gain.Hi > 0 {
			t.display.say("the time goes: up to %.1f s of the run: %s %s: %s", f.Gain.Hi, f.Code, f.Where, firstLine(f.Claim))
		}
	}
}

// propose adds the candidates of a proposer.
func (t *Tuner) propose(ctx context.Context, d *diagnose.Diagnosis, known []iikanji.Fact) error {
	more, err := t.Propose(ctx, d, known, t.book.ledger().Attempts)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.display.note("no proposals from the proposer: %s", err)
		return nil
	}
	for _, c := range more {
		c.Proposed = true
		act, _ := change.Match(c.Remedy) // an error: the trial reports why it cannot be planned
		c.Traits, c.Chance, c.Gain = traitsOf(c.Remedy), act.Belief.Chance, max(act.Belief.Gain, c.Gain)
		t.book.state.Add(c.Keyed())
	}
	return nil
}

// refuse reports remedies that cannot be tried: as attempts that were skipped.
// Those that wait for a patch are many in a diagnosis, and get one line together.
func (t *Tuner) refuse(refused []Refusal) {
	var patches []string
	for _, r := range refused {
		if errors.Is(r.Err, change.ErrNoDiff) {
			if code := string(r.Candidate.Code); !slices.Contains(patches, code) {
				patches = append(patches, code)
			}
			continue
		}
		if tried, _ := t.book.state.HasTried(r.Candidate); !tried {
			t.planner.skip(r.Candidate, r.Err)
		}
	}
	if len(patches) > 0 {
		t.display.say("not tried: remedies of %s: %s", strings.Join(patches, ", "), change.ErrNoDiff)
	}
}

// noteAbsorbed notes, after the trial of a candidate that promised a solid gain, that other
// work used what it saved. From then on candidates are tried together first. The score only
// has to be far from the gain that was promised: the CPU times are the evidence, and they
// vary much less from run to run.
func (t *Tuner) noteAbsorbed(a *search.Attempt) error {
	s := t.book.state
	if !s.MayAbsorb(a) {
		return nil
	}
	base, err := t.book.load(a.Verdict.Base)
	if err != nil {
		return err
	}
	tried, err := t.book.load(a.Verdict.Tried)
	if err != nil {
		return err
	}
	saver, user, ok := s.Absorbs(cpuShares(base), cpuShares(tried))
	if !ok {
		return nil
	}
	s.Ledger.Absorbed = true
	t.display.note("%s saved CPU time of %s, and %s used it: the score did not rise. From here on candidates are tried together first", a.Says, saver, user)
	return nil
}

// cpuShares is the mean CPU time of each service of the stack in runs, as a share of the
// machine's.
func cpuShares(runs []*iikanji.Run) map[string]float64 {
	out := map[string]float64{}
	for _, r := range runs {
		for _, u := range r.Usage {
			if u.Who != "generator" && u.Who != "other" {
				out[u.Who] += u.Share / float64(len(runs))
			}
		}
	}
	return out
}
