package trial

import (
	"context"
	"math"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// A Paired is one pair of a trial, and what the fast lane says of it.
type Paired struct {
	judge.Pair
	Fast judge.Provisional // OK: the candidate is let in because of one run far above the incumbent's
	// Back is the run of the incumbent right after that run; nil if there was none.
	Back *iikanji.Run
}

// A Lane is whether one run may let a candidate in, and when that run needs no second one.
type Lane struct {
	Open bool // no other change waits for its confirmation
	// Scarce: a search with few runs does not run the incumbent again after a run that no
	// change of the machine explains.
	Scarce bool
}

// RunPair runs the pair after usable ones. The first pair may use the incumbent's latest run
// as its A; then one B far above it may qualify for the fast lane.
func (tr *Trial) RunPair(ctx context.Context, j judge.Judge, usable int, lane Lane) (p Paired, err error) {
	ar := tr.Arms
	first := len(tr.Case.Pairs) == tr.Had
	if rest, drawn := restBefore(tr.rng, usable); drawn {
		ar.rest = rest
	}
	opening := tr.opening
	if tr.Had > 0 {
		opening = Opening(judge.OrderUnknown)
	}
	if first {
		p.A = tr.free
	}
	for _, on := range opening.orderAfter(usable, tr.seed, tr.Change()).Arms() {
		if !on && p.A != nil {
			continue
		}
		run, void, err := ar.Run(ctx, on)
		if err != nil || ar.Wiped {
			return p, err
		}
		if p.Put(on, run, void); p.Void != "" {
			return p, nil
		}
		if on && first && lane.Open && !tr.Closed && tr.Had == 0 {
			if p.Fast = tr.Rule(j).FastLane(tr.Case, ar.Runs.Incumbent(), run); p.Fast.OK {
				return tr.andBack(ctx, p, lane)
			}
		}
		if before := ar.Runs.Incumbent(); on && judge.Failed(run) && p.A == nil && len(before) > 0 {
			p.A = before[len(before)-1] // a failed run needs no comparison
			return p, nil
		}
	}
	return p, nil
}

// leapOfMachine is on ln(score) how far above the incumbent's bound a run is that no
// change of the machine explains: a factor of 2. A scarce search does not run the
// incumbent again then.
const leapOfMachine = math.Ln2

// andBack runs the incumbent once more after a run of the candidate that is
// above what the incumbent scores by chance. If this run is, too, the machine
// has become faster, and pairs decide.
func (tr *Trial) andBack(ctx context.Context, p Paired, lane Lane) (Paired, error) {
	before := tr.Arms.Runs.Incumbent()
	if lane.Scarce && math.Log(p.B.Score) > p.Fast.Bound+leapOfMachine {
		p.A = before[len(before)-1]
		return p, nil
	}
	fast := p.Fast
	p.Fast = judge.Provisional{}
	run, void, err := tr.Arms.Run(ctx, false)
	if err != nil {
		return p, err
	}
	if p.Put(false, run, void); p.Void != "" || !run.Clean() || !(run.Score > 0) || math.Log(run.Score) > fast.Bound {
		return p, nil
	}
	fast.Why += said(run)
	p.Fast, p.Back = fast, run
	return p, tr.Arms.Put(ctx, true)
}

// Clear is the verdict on a candidate of a scarce search that the fast lane accepted, if
// its one run shows the gain beyond doubt. ok is false if later runs must confirm it.
func (tr *Trial) Clear(j judge.Judge, p Paired) (v iikanji.Verdict, ok bool) {
	if p.B == nil {
		return v, false
	}
	return tr.Rule(j).Clear(tr.Case, tr.Arms.Runs.Incumbent(), p.B)
}
