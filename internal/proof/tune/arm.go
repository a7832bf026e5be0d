package tune

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/iikanji/iikanji/internal/proof/judge"
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

// leapOfMachine is on ln(score) how far above the incumbent's bound a run is that no
// change of the machine explains: a factor of 2. A scarce search does not run the
// incumbent again then.
const leapOfMachine = math.Ln2

// andBack runs the incumbent once more after a run of the candidate that is
// above what the incumbent scores by chance. If this run is, too, the machine
// has become faster, and pairs decide.
func (tr *trial) andBack(ctx context.Context, p judge.Pair, fast judge.Provisional) (judge.Pair, judge.Provisional, error) {
	if tr.scarce() && math.Log(p.B.Score) > fast.Bound+leapOfMachine {
		p.A = tr.incumbent[len(tr.incumbent)-1]
		return p, fast, nil
	}
	run, void, err := tr.arm(ctx, false)
	if err != nil {
		return p, judge.Provisional{}, err
	}
	if p.Put(false, run, void); p.Void != "" || !run.Clean() || !(run.Score > 0) || math.Log(run.Score) > fast.Bound {
		return p, judge.Provisional{}, nil
	}
	if len(tr.ledger.InForce) == 0 {
		tr.back, tr.backAt = run, tr.ledger.Runs
	}
	fast.Why += fmt.Sprintf("; run %d, without it right after, scored %.0f", run.ID, run.Score)
	return p, fast, tr.put(ctx, true)
}
