package tune

import (
	"context"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// A dropCheck compares the final site with the one without a kept change.
type dropCheck struct {
	*trial
	keep keep
	says string // the change in words
}

func (t *endPhase) newDropCheck(k keep, says string, changes []*iikanji.Change) *dropCheck {
	tr := newTrial(t.runner, t.queue, changes...)
	tr.looks = t.judge.Looks.Patient() // a kept change goes only if its gain is ruled out
	tr.on, tr.c.Before = true, nil     // a shift of the arm without it means nothing: it is not the incumbent
	return &dropCheck{tr, k, says}
}

// without runs pairs until the judge decides whether a change is still worth keeping.
func (d *dropCheck) without(ctx context.Context) (iikanji.Verdict, error) {
	d.fresh = nil
	var v iikanji.Verdict
	for usable := 0; v.Call == iikanji.CallUnknown; usable = len(v.Tried) {
		if len(d.c.Pairs)-usable >= maxVoids || d.tailLeft() < 3*d.cost {
			break
		}
		p, err := d.pairWithout(ctx, usable)
		if err != nil {
			return v, err
		}
		if d.c.Pairs = append(d.c.Pairs, p); p.Void != "" {
			continue
		}
		v = d.rule().Decide(d.c)
		d.show(func(w *View) { w.Pairs, w.Effect = len(v.Tried), &v.Effect })
	}
	return v, nil
}

// pairWithout is one pair of a drop-one check.
func (d *dropCheck) pairWithout(ctx context.Context, usable int) (p judge.Pair, err error) {
	order := judge.BA // the first run needs no switch
	if usable >= 2 {
		order = judge.NextOrder(d.options.Seed, d.changes[0].ID, usable)
	} else if usable == 1 {
		order = judge.AB
	}
	for _, on := range order.Arms() {
		if err := d.put(ctx, on); err != nil {
			return p, err
		}
		run, void, err := d.bench(ctx, load.Spec{Load: d.options.Short, Trial: on}, d.changes...)
		if err != nil {
			return p, err
		}
		if p.Put(on, run, void); p.Void != "" {
			break
		}
	}
	return p, nil
}

// again notes what a check found of a change that it measured alone.
func (d *dropCheck) again(a *Attempt, v iikanji.Verdict) {
	if d.keep.part < 0 {
		a.Again = &v
		d.judge.Effects.Pool(&a.Verdict, v)
		return
	}
	for len(a.Alone) <= d.keep.part {
		a.Alone = append(a.Alone, nil)
	}
	if v.Call == iikanji.Keep {
		v.Why = "tried alone at the end: " + v.Why
		a.Alone[d.keep.part] = &v
	}
}

// drop undoes a change for good that a check found to have no effect worth keeping.
func (d *dropCheck) drop(ctx context.Context, a *Attempt, v iikanji.Verdict) error {
	if err := d.put(ctx, false); err != nil {
		return err
	}
	d.ledger.InForce = slices.DeleteFunc(d.ledger.InForce, func(id iikanji.ChangeID) bool { return slices.Contains(d.keep.ids, id) })
	a.Dropped = len(d.ledger.inForceOf(a)) == 0
	d.ledger.Away, d.incumbent, d.fresh = nil, nil, nil
	for _, p := range d.c.Pairs {
		if p.Void == "" && p.A != nil {
			d.incumbent = append(d.incumbent, p.A)
		}
	}
	d.note("dropped: %s: %s", d.says, v.Why)
	return d.save()
}
