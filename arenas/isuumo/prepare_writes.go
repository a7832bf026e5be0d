package isuumo

import (
	"context"
	"net/http"
	"strconv"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// readBack is the number of posted rows of each kind that the verification reads.
const readBack = 5

// verifyPosts posts a file of chairs and a file of estates at the same time.
func (ct *contest) verifyPosts(ctx context.Context) error {
	post := func(k *batch) func() error {
		return func() error {
			b := ct.verifier(draftTimeout)
			defer b.cl.Close()
			return k.post(ctx, b, min(readBack, len(k.at)))
		}
	}
	return together(post(ct.world.chairBatch(ct.data.VerifyChairs)), post(ct.world.estateBatch(ct.data.VerifyEstates)))
}

// verifyPurchase buys the only chair of a posted row. From then on no answer may
// show it.
func (ct *contest) verifyPurchase(ctx context.Context) error {
	b := ct.verifier(requestTimeout)
	defer b.cl.Close()
	w := ct.world
	pos := w.chairs.at[ct.data.VerifyChairs[0].ID]
	if err := b.document(ctx, w.estates.at[ct.data.VerifyEstates[0].ID]); err != nil {
		return err
	}
	if _, err := b.buy(ctx, pos); err != nil {
		return err // also if the target does not sell it: posted rows must be there at once
	}
	path := idPath("/api/chair/", w.chairs.ids[pos])
	err := b.get(ctx, stepChair, path, func(res *scenario.Response) error {
		return verify.RefusalStatus(res, "chair-not-gone", http.StatusNotFound)
	})
	if err != nil {
		return err
	}
	if _, err := b.searchChairs(ctx, w.exactQuery(pos)); err != nil {
		return err
	}
	return b.chairLow(ctx)
}

// exactQuery is a search with all conditions that a chair satisfies, but its
// features.
func (w *world) exactQuery(pos int32) *query {
	t, q := w.chairs, &query{size: userPage}
	for _, c := range []struct {
		name string
		sets []bitset
	}{{"priceRangeId", t.price}, {"heightRangeId", t.height}, {"widthRangeId", t.width}, {"depthRangeId", t.depth}} {
		for i, set := range c.sets {
			if set.has(pos) {
				q.set(condition{c.name, strconv.Itoa(i), set})
			}
		}
	}
	c := &t.all[pos]
	q.set(condition{"kind", c.Kind, t.kind[c.Kind]})
	q.set(condition{"color", c.Color, t.color[c.Color]})
	return q
}
