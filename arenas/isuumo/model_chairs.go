package isuumo

import (
	"slices"
	"sync/atomic"
	"time"
)

// chairs are the chairs, with what is known of their stock.
type chairs struct {
	rows
	all     []Chair // by position
	byPrice []int32 // positions in the order of the low-priced list

	price, height, width, depth []bitset // by range
	color, kind, feature        map[string]bitset

	// left is the stock without what was bought and what may have been bought: a
	// purchase in flight, or one whose answer was lost.
	left   []atomic.Int64
	bought []atomic.Int64 // acknowledged purchases
	soldAt []atomic.Int64 // ns of the model's clock when the last one was acknowledged; 0 before
}

func newChairs(d *Dataset, c *ChairConditions) *chairs {
	all := slices.Concat(slices.Concat(d.Chairs, d.VerifyChairs), slices.Concat(d.DraftChairs...))
	slices.SortFunc(all, func(a, b Chair) int { return byPopularity(a.Popularity, b.Popularity, a.ID, b.ID) })
	n := len(all)
	t := &chairs{rows: newRows(idsOf(all, chairID)), all: all,
		left: make([]atomic.Int64, n), bought: make([]atomic.Int64, n), soldAt: make([]atomic.Int64, n)}
	for pos := range all {
		t.left[pos].Store(all[pos].Stock)
	}
	t.byPrice = ordered(n, func(a, b int32) int { return byValue(all[a].Price, all[b].Price, all[a].ID, all[b].ID) })
	t.price = rangeSets(n, c.Price, func(pos int32) int64 { return all[pos].Price })
	t.height = rangeSets(n, c.Height, func(pos int32) int64 { return all[pos].Height })
	t.width = rangeSets(n, c.Width, func(pos int32) int64 { return all[pos].Width })
	t.depth = rangeSets(n, c.Depth, func(pos int32) int64 { return all[pos].Depth })
	t.color = labelSets(n, c.Color, func(pos int32) string { return all[pos].Color })
	t.kind = labelSets(n, c.Kind, func(pos int32) string { return all[pos].Kind })
	t.feature = featureSets(n, c.Feature, func(pos int32) string { return all[pos].Features })
	t.lay(idsOf(d.Chairs, chairID))
	return t
}

func chairID(c *Chair) int64   { return c.ID }
func estateID(e *Estate) int64 { return e.ID }

func idsOf[T any](all []T, id func(*T) int64) []int64 {
	ids := make([]int64, len(all))
	for i := range all {
		ids[i] = id(&all[i])
	}
	return ids
}

// buying notes that a purchase is about to be sent.
func (t *chairs) buying(pos int32) {
	if t.left[pos].Add(-1) <= 0 {
		t.sure.remove(pos) // it may be gone from now on
	}
}

// buyFailed notes that the target refused a purchase. It reports whether the
// chair must have been in stock: even if every other purchase that was sent
// succeeded, one was left.
func (t *chairs) buyFailed(pos int32) (wrong bool) { return t.left[pos].Add(1) > 0 }

// buyDone notes an acknowledged purchase at a time. It reports whether more
// chairs were sold than there were.
func (t *chairs) buyDone(pos int32, at time.Duration) (wrong bool) {
	n, stock := t.bought[pos].Add(1), t.all[pos].Stock
	if n == stock {
		t.soldAt[pos].Store(int64(at))
	}
	return n > stock
}

// soldBefore reports whether the last chair was sold before a time.
func (t *chairs) soldBefore(pos int32, at time.Duration) bool {
	sold := t.soldAt[pos].Load()
	return sold != 0 && sold < int64(at)
}

// maybeGone reports whether the chair may be sold out.
func (t *chairs) maybeGone(pos int32) bool { return t.left[pos].Load() <= 0 }
