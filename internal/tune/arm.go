package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/judge"
)

// pair runs one pair. The first pair may use the incumbent's latest run as its
// A; then one B far above it may qualify for the fast lane.
func (tr *trial) pair(ctx context.Context, usable int) (p judge.Pair, fast judge.Provisional, err error) {
	first := len(tr.c.Pairs) == tr.had
	tr.rest(usable)
	order := tr.orderOf(usable)
	if first {
		p.A = tr.free
	}
	for _, on := range order.Arms() {
		if !on && p.A != nil {
			continue
		}
		run, void, err := tr.arm(ctx, on)
		if err != nil || tr.replan {
			return p, fast, err
		}
		if p.Put(on, run, void); p.Void != "" {
			return p, fast, nil
		}
		if on && first && tr.ledger.Open == nil && !tr.closed && !tr.resumed {
			if fast = tr.rule().FastLane(tr.c, tr.incumbent, run); fast.OK {
				return tr.andBack(ctx, p, fast)
			}
		}
		if on && judge.Failed(run) && p.A == nil && len(tr.incumbent) > 0 {
			p.A = tr.incumbent[len(tr.incumbent)-1] // a failed run needs no comparison
			return p, fast, nil
		}
	}
	return p, fast, nil
}

// orderOf is the order of the pair after usable ones.
func (tr *trial) orderOf(usable int) judge.Order {
	if usable < 2 && !tr.resumed { // the first order saves a switch between the arms
		if usable == 1 {
			return judge.AB + judge.BA - tr.order
		}
		return tr.order
	}
	return judge.NextOrder(tr.options.Seed, tr.changes[0].ID, usable)
}

// MostRest bounds the random rest before each second pair: without it, a
// disturbance that comes at regular times always meets the same run of a pair.
const MostRest = 5 * time.Second

// rest draws the rest before a pair.
func (tr *trial) rest(usable int) {
	if usable%2 == 0 {
		tr.wait = time.Duration(tr.rng.Int64N(int64(MostRest)))
	}
}

// andBack runs the incumbent once more after a run of the candidate that is
// above what the incumbent scores by chance. If this run is, too, the machine
// has become faster, and pairs decide.
func (tr *trial) andBack(ctx context.Context, p judge.Pair, fast judge.Provisional) (judge.Pair, judge.Provisional, error) {
	run, void, err := tr.arm(ctx, false)
	if err != nil {
		return p, judge.Provisional{}, err
	}
	if p.Put(false, run, void); p.Void != "" || !run.Clean() || !(run.Score > 0) || math.Log(run.Score) > fast.Bound {
		return p, judge.Provisional{}, nil
	}
	fast.Why += fmt.Sprintf("; run %d, without it right after, scored %.0f", run.ID, run.Score)
	return p, fast, tr.put(ctx, true)
}

// arm is one run of one arm.
func (tr *trial) arm(ctx context.Context, on bool) (*iikanji.Run, string, error) {
	if err := tr.put(ctx, on); err != nil {
		return nil, "", err
	}
	if on { // the candidate may be the cause of void runs: only the incumbent's show what the machine is like
		tr.voids = min(tr.voids, maxVoids-2)
	}
	spec := BenchSpec{Load: tr.options.Short, Trial: on, Rest: tr.wait}
	tr.wait = 0
	if on {
		spec.Ready = func(ctx context.Context) bool { // an error recurs after the run and is returned then
			tr.replan, _ = tr.wiped(ctx, tr.changes)
			return !tr.replan
		}
	}
	run, void, err := tr.bench(ctx, spec, tr.changes...)
	if err != nil {
		return nil, "", err
	}
	tr.runs++
	if tr.latest = nil; on && void == "" && run.Clean() {
		tr.latest = run
	}
	if on && !tr.replan {
		tr.replan, err = tr.wiped(ctx, tr.changes)
	}
	if on {
		return run, void, err
	}
	if void == "" {
		tr.incumbentRan(run)
	}
	return run, void, nil
}

// put brings the site into one arm of the trial. An arm that is run twice in a
// row gets the same restarts, so that no arm has warmer caches.
func (tr *trial) put(ctx context.Context, on bool) error {
	if tr.on == on {
		return tr.notice(ctx)
	}
	tr.fresh, tr.latest = nil, nil
	if on {
		tr.on = true // parts of a bundle may be applied when the next one fails
		began := tr.now()
		for _, c := range tr.changes {
			if err := tr.acts.Apply(ctx, c.ID); err != nil {
				return err
			}
		}
		tr.applying = cmp.Or(tr.applying, tr.now().Sub(began))
		return nil
	}
	for _, c := range slices.Backward(tr.changes) {
		if err := tr.acts.Revert(ctx, c.ID, "the arm without it"); err != nil {
			return err
		}
	}
	tr.on = false
	return nil
}

// notice performs the reloads and restarts of the changes.
func (tr *trial) notice(ctx context.Context) error {
	done := map[string]bool{}
	for _, c := range tr.changes {
		for _, op := range c.Do {
			if (op.Verb == iikanji.Reload || op.Verb == iikanji.Restart) && !done[op.Location()] {
				done[op.Location()] = true
				if err := tr.hands().Perform(ctx, op); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
