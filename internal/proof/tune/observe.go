package tune

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// observe runs the site with every sensor on and fills the queue again.
func (t *Tuner) observe(ctx context.Context) error {
	t.show(func(v *View) {
		v.Phase, v.Doing, v.Purpose = "observe", "a run with every sensor on", "where does the time go now?"
	})
	t.fresh = nil
	state, err := t.fingerprint(ctx)
	if err != nil {
		return err
	}
	d, known, err := t.Field.Observe(ctx, load.Spec{Load: t.Options.Watch, State: state})
	if err != nil {
		return err
	}
	t.diagnosis, t.moved = d, false
	older := t.candidates
	if t.screening.binding != d.Binding || t.screening.found == nil {
		t.screening = screening{found: map[string]judge.Screening{}, broken: map[string]bool{}, binding: d.Binding}
	}
	found, refused := Candidates(d)
	t.candidates = slices.DeleteFunc(found, t.cured)
	t.refuse(refused)
	t.say("observed: %d causes, %d remedies that need no patch; the limit is %s", len(d.Findings), len(t.candidates), cmp.Or(d.Binding, "none of the machine's resources"))
	t.carry(older)
	if t.Propose == nil {
		return nil
	}
	more, err := t.Propose(ctx, d, known, t.ledger.Attempts)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.note("no proposals from the proposer: %s", err)
		return nil
	}
	for _, c := range more {
		c.Proposed = true
		act, _ := change.Match(c.Remedy) // an error: the trial reports why it cannot be planned
		c.Chance, c.Gain = max(act.Belief.Chance, 0.1), max(act.Belief.Gain, 0.05, c.Gain)
		if !slices.ContainsFunc(t.candidates, func(o Candidate) bool { return o.Key() == c.Key() }) {
			t.candidates = append(t.candidates, c.cached())
		}
	}
	return nil
}

// refuse reports remedies that cannot be tried: as attempts that were skipped.
// Those that wait for a patch are many in a diagnosis, and get one line together.
func (t *Tuner) refuse(refused []Refusal) {
	var patches []string
	for _, r := range refused {
		if errors.Is(r.Err, change.ErrNoDiff) {
			if code := string(r.Code); !slices.Contains(patches, code) {
				patches = append(patches, code)
			}
			continue
		}
		if tried, _ := t.tried(r.Candidate); tried {
			continue
		}
		t.say("not tried: %s: %s", r.Remedy.Says, firstLine(r.Err.Error()))
		t.ledger.Attempts = append(t.ledger.Attempts, Attempt{Candidate: r.Candidate, Key: r.Key(), Says: r.Remedy.Says, Binding: t.binding(), Skipped: r.Err.Error()})
	}
	if len(patches) > 0 {
		t.say("not tried: remedies of %s: %s", strings.Join(patches, ", "), change.ErrNoDiff)
	}
}
