package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
)

// undoHarm undoes everything if the last comparison proves that the final site is slower
// than the untouched one: short runs may miss what long ones show, as a pool that blocks
// once in a minute. The headline and its runs stay in the outcome.
func (t *endPhase) undoHarm(ctx context.Context) error {
	r := t.out.Ratio
	if r.Hi <= 0 || r.Hi >= 1 || len(t.ledger.InForce) == 0 { // 0: too few pairs for an interval
		return nil
	}
	n, why := len(t.ledger.InForce), "the last comparison proved that the site is slower with what was kept"
	if err := t.takeBack(ctx, slices.Clone(t.ledger.InForce), why); err != nil {
		return err
	}
	for i := range t.ledger.Attempts {
		if a := &t.ledger.Attempts[i]; a.Verdict.Call == iikanji.Keep {
			a.Dropped = true
		}
	}
	t.note("%s: %s undone", why, map[bool]string{true: "it is", false: fmt.Sprintf("all %d changes are", n)}[n == 1])
	return t.save()
}
