package trial

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Star compares the final site, in rounds, with itself without each of several changes. The
// one run of the final site of a round serves a pair for each.
type Star struct {
	Site Site
	Load time.Duration // of each run
	Arms []*Trial      // each of a change that is in force
	Rng  *rand.Rand

	latest []int // the order of the latest round, to be reversed in the next
}

// Without is the trial of a change that is in force: the final site is compared with the one
// without it. One with patience goes only if its gain is ruled out.
func Without(s Setting, looks stats.Looks, changes ...*iikanji.Change) *Trial {
	tr := New(s, changes...)
	tr.Looks = looks
	tr.Arms.On, tr.Case.Before = true, nil // a shift of the arm without it means nothing: it is not the incumbent
	return tr
}

// finalSite is the arm that has all changes.
const finalSite = -1

// A starRun is one run of a round.
type starRun struct {
	run  *iikanji.Run
	void string
}

// Run makes one round: a run of the final site and one without each of some changes, in random
// order, or in that of the round before reversed, which cancels a drift. A void run is repeated
// once. ok is false if the run of the final site does not count: the round has no pairs then.
func (s *Star) Run(ctx context.Context, which []int, tell func(arm int)) (ok bool, err error) {
	runs := map[int]starRun{}
	for _, arm := range s.order(which) {
		tell(arm)
		for range 2 {
			if runs[arm], err = s.run(ctx, arm); err != nil {
				return false, err
			}
			if runs[arm].void == "" {
				break
			}
		}
	}
	final := runs[finalSite]
	if final.void != "" {
		return false, nil
	}
	for _, arm := range which {
		var p judge.Pair
		if p.Put(false, runs[arm].run, runs[arm].void); p.Void == "" {
			p.Put(true, final.run, "")
		}
		s.Arms[arm].Case.Pairs = append(s.Arms[arm].Case.Pairs, p)
	}
	return true, nil
}

// order is the order of a round.
func (s *Star) order(which []int) []int {
	order := append(slices.Clone(which), finalSite)
	if s.latest != nil && !slices.ContainsFunc(order, func(arm int) bool { return !slices.Contains(s.latest, arm) }) {
		slices.Reverse(s.latest)
		order = slices.DeleteFunc(s.latest, func(arm int) bool { return !slices.Contains(order, arm) })
		s.latest = nil
		return order
	}
	s.Rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	s.latest = slices.Clone(order)
	return order
}

// run brings the site into the state of an arm and runs it there.
func (s *Star) run(ctx context.Context, arm int) (r starRun, err error) {
	for i, tr := range s.Arms {
		if i != arm && !tr.Arms.On {
			if err := tr.Arms.Put(ctx, true); err != nil {
				return r, err
			}
		}
	}
	spec := load.Spec{Load: s.Load, Trial: arm == finalSite}
	if arm == finalSite {
		r.run, r.void, err = s.Site.Bench(ctx, spec)
		return r, err
	}
	arms := s.Arms[arm].Arms
	if err := arms.Put(ctx, false); err != nil {
		return r, err
	}
	r.run, r.void, err = s.Site.Bench(ctx, spec, arms.Changes...)
	return r, err
}

// Back notes that all changes are applied again.
func (s *Star) Back() {
	for _, tr := range s.Arms {
		tr.Arms.On = true
	}
}
