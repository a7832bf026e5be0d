package trial

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Trial compares the site with changes to the site without them, in
// interleaved pairs. Several changes are a bundle, which gets one verdict.
type Trial struct {
	Arms *Arms
	Case judge.Case
	// Looks are the looks of this trial; empty for the judge's own.
	Looks stats.Looks
	Had   int // pairs of an earlier part of the trial
	// Closed: the fast lane has failed for these changes, or is not used.
	Closed   bool
	Answered *iikanji.Answered
	Began    time.Time

	free    *iikanji.Run // the incumbent's latest run, which serves as the first A
	opening Opening
	seed    uint64
	rng     *rand.Rand // of the rests
}

// A Setting is what a trial begins with.
type Setting struct {
	Site  Site
	Runs  Runs
	Load  time.Duration // of each run
	Seed  uint64
	Rng   *rand.Rand
	Fresh *iikanji.Run // the incumbent's latest run, if nothing was changed since
	// Unconfirmed: runs of the incumbent confirm a change that the fast lane let in.
	Unconfirmed bool
	Allow       []iikanji.Promise
	Known       []iikanji.Fault
	Earlier     judge.Record
}

// New is the trial of some changes.
func New(s Setting, changes ...*iikanji.Change) *Trial {
	tr := &Trial{Arms: &Arms{Site: s.Site, Runs: s.Runs, Changes: changes, Load: s.Load}, Began: s.Site.Now(),
		free: s.Fresh, opening: Opening(judge.BA), seed: s.Seed, rng: s.Rng}
	if tr.free != nil || s.Unconfirmed { // runs of the incumbent confirm the unconfirmed change
		tr.opening = Opening(judge.AB)
	}
	tr.Case = judge.Case{Change: bundled(changes), Worth: WorthOf(changes), Allow: s.Allow, Known: s.Known, Earlier: s.Earlier}
	if before := s.Runs.Incumbent(); len(before) >= judge.ShiftRuns {
		tr.Case.Before = slices.Clone(before)
	}
	tr.Case.Cheaper = len(changes) == 1 && len(changes[0].Weakens) == 0
	tr.Case.Simplifies = slices.ContainsFunc(changes, func(c *iikanji.Change) bool { return c.Simplifies })
	return tr
}

// WorthOf is the least effect on ln(score) for which a bundle is worth keeping:
// the sum of its changes' least effects. What only prepares a change has none.
func WorthOf(changes []*iikanji.Change) float64 {
	least := 0.0
	for _, c := range changes {
		if !c.Prepares {
			least += judge.Worth(c)
		}
	}
	return least
}

// bundled merges changes into one for the judge.
func bundled(changes []*iikanji.Change) iikanji.Change {
	one := *changes[0]
	for _, c := range changes[1:] {
		one.Weakens = append(slices.Clone(one.Weakens), c.Weakens...)
		one.Says += "; " + c.Says
	}
	return one
}

// GoOn continues an earlier trial of the same changes with the pairs that it has.
func (tr *Trial) GoOn(pairs []judge.Pair) {
	if len(pairs) == 0 {
		return
	}
	tr.Case.Pairs = append(tr.Case.Pairs, pairs...)
	tr.Had = len(pairs)
	if tr.free != nil && slices.ContainsFunc(pairs, func(p judge.Pair) bool { return p.A.ID == tr.free.ID }) {
		tr.free = nil
	}
}

// Pairs are those that this part of the trial has run.
func (tr *Trial) Pairs() []judge.Pair { return tr.Case.Pairs[tr.Had:] }

// Change is the number of the first change, which names the trial.
func (tr *Trial) Change() iikanji.ChangeID { return tr.Arms.Changes[0].ID }

// Rule is the judge with the levels of this trial.
func (tr *Trial) Rule(j judge.Judge) judge.Judge {
	if len(tr.Looks.Sizes) > 0 {
		j.Looks = tr.Looks
	}
	return j
}

// GiveUp is the verdict on a trial that cannot be finished.
func (tr *Trial) GiveUp(j judge.Judge, why string) iikanji.Verdict {
	v := tr.Rule(j).Decide(tr.Case)
	if v.Reason != iikanji.Gate {
		v.Call, v.Reason, v.Needed, v.Why = iikanji.Inconclusive, iikanji.Undecided, 0, why
	}
	return v
}

// Recalibrate voids the last pair and runs the incumbent again, because the
// environment has changed.
func (tr *Trial) Recalibrate(ctx context.Context, why string) error {
	tr.Case.Pairs[len(tr.Case.Pairs)-1].Void = why
	tr.Case.Before = nil
	for len(tr.Case.Before) < judge.ShiftRuns {
		run, void, err := tr.Arms.Run(ctx, false)
		if err != nil {
			return err
		}
		if void == "" {
			tr.Case.Before = append(tr.Case.Before, run)
		}
	}
	return nil
}

// said is how the fast lane's second run is told.
func said(run *iikanji.Run) string {
	return fmt.Sprintf("; run %d, without it right after, scored %.0f", run.ID, run.Score)
}
