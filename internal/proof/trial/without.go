package trial

import (
	"context"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// Without is the trial of a change that is in force: the final site is compared with the
// one without it. The change goes only if its gain is ruled out.
func Without(s Setting, j judge.Judge, changes ...*iikanji.Change) *Trial {
	tr := New(s, changes...)
	tr.Looks = j.Looks.Patient()
	tr.Arms.On, tr.Case.Before = true, nil // a shift of the arm without it means nothing: it is not the incumbent
	tr.opening = Opening(judge.BA)         // the first run needs no switch
	return tr
}

// RunPairWithout is one pair of it. Its runs are no runs of the incumbent.
func (tr *Trial) RunPairWithout(ctx context.Context, usable int) (p judge.Pair, err error) {
	for _, on := range tr.opening.orderAfter(usable, tr.seed, tr.Change()).Arms() {
		if err := tr.Arms.Put(ctx, on); err != nil {
			return p, err
		}
		run, void, err := tr.Arms.Site.Bench(ctx, load.Spec{Load: tr.Arms.Load, Trial: on}, tr.Arms.Changes...)
		if err != nil {
			return p, err
		}
		if p.Put(on, run, void); p.Void != "" {
			break
		}
	}
	return p, nil
}
