package isuumo

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A prover is a scenario that sends many random requests of every kind, before
// and after rows were posted and bought, and compares every answer with the model.
type prover struct {
	*contest
	each int
	sent map[string]int // requests by kind
}

func (p *prover) Info() scenario.Info { return p.contest.Info() }

func (p *prover) Prepare(ctx context.Context, s scenario.Session) error {
	p.s, p.world = s, newWorld(p.data, chairConditions(), estateConditions())
	if err := p.initialize(ctx); err != nil {
		return err
	}
	b := p.verifier(20 * time.Second)
	defer b.cl.Close()
	if err := p.compare(ctx, b, p.each); err != nil {
		return err
	}
	if err := p.verifyPosts(ctx); err != nil {
		return err
	}
	// From now on posted rows are in every list: here the target is known to be
	// fresh, so that the comparison stays exact.
	for _, r := range []*rows{&p.world.chairs.rows, &p.world.estates.rows} {
		for pos := range int32(len(r.ids)) {
			if r.there.has(pos) {
				r.sure.add(pos)
			}
		}
	}
	for range 20 {
		if err := p.sellOut(ctx, b, s.Rand("sell")); err != nil {
			return err
		}
	}
	return p.compare(ctx, b, p.each)
}

// sellOut buys all of a chair of the low-priced list's beginning or of a random
// one.
func (p *prover) sellOut(ctx context.Context, b *browser, rng *rand.Rand) error {
	t := p.world.chairs
	pos := t.byPrice[rng.IntN(40)]
	for !t.maybeGone(pos) && t.there.has(pos) {
		if _, err := b.buy(ctx, pos); err != nil {
			return err
		}
	}
	return nil
}

// compare sends n requests of each kind.
func (p *prover) compare(ctx context.Context, b *browser, n int) error {
	w, rng := p.world, p.s.Rand("prover")
	for _, kind := range []struct {
		name string
		send func() error
	}{
		{"chair", func() error { _, err := b.chair(ctx, anyOf(rng, &w.chairs.rows)); return err }},
		{"estate", func() error { return b.estate(ctx, anyOf(rng, &w.estates.rows)) }},
		{"chair low", func() error { return b.chairLow(ctx) }},
		{"estate low", func() error { return b.estateLow(ctx) }},
		{"chair features", func() error {
			_, err := b.searchChairs(ctx, drawFeatures(rng, w.chairPickers, w.chairConditions.Feature, w.chairs.feature))
			return err
		}},
		{"estate features", func() error {
			_, err := b.searchEstates(ctx, drawFeatures(rng, w.estatePickers, w.estateConditions.Feature, w.estates.feature))
			return err
		}},
		{"chair search", func() error {
			return anyPage(ctx, rng, drawQuery(rng, w.chairPickers, 1+rng.IntN(6), userPage), b.searchChairs)
		}},
		{"estate search", func() error {
			return anyPage(ctx, rng, drawQuery(rng, w.estatePickers, 1+rng.IntN(3), userPage), b.searchEstates)
		}},
		{"recommended", func() error { _, err := b.recommended(ctx, int32(anyOf(rng, &w.chairs.rows))); return err }},
		{"nazotte", func() error { _, err := b.nazotte(ctx, w.estates.drawWith(rng, 1+rng.IntN(80))); return err }},
	} {
		for range n {
			if err := kind.send(); err != nil {
				return err
			}
			p.sent[kind.name]++
		}
	}
	return nil
}

// anyPage searches the first page and then a random one, up to one past the end.
func anyPage(ctx context.Context, rng *rand.Rand, q *query, search searcher) error {
	first, err := search(ctx, q)
	if err != nil {
		return err
	}
	q.page = rng.IntN(first.count/q.size + 2)
	_, err = search(ctx, q)
	return err
}

// testModel proves the model against the untouched app on MariaDB.
func testModel(t *testing.T, url, data string) {
	set, err := readDataset(data)
	if err != nil {
		t.Fatal(err)
	}
	p := &prover{contest: &contest{data: set, fixed: noLevel}, each: 25, sent: map[string]int{}}
	run, err := bench.Run(t.Context(), p, bench.Options{URL: url, Seed: 1, NoLoad: true})
	if err != nil {
		t.Fatal(err)
	}
	if run.Outcome != iikanji.Passed {
		t.Errorf("%s: %v %+v", run.Outcome, run.Reasons, run.Faults)
	}
	sum := 0
	for _, n := range p.sent {
		sum += n
	}
	if sum < 300 {
		t.Errorf("%d answers compared, want at least 300", sum)
	}
	t.Logf("%d answers compared: %v", sum, p.sent)
}

// TestFeatureSets checks that the set of a label has the rows in whose whole list the app
// finds the label, also inside another one.
func TestFeatureSets(t *testing.T) {
	d := generate(suiteSize)
	c := chairConditions().Feature
	for label, got := range featureSets(len(d.Chairs), c, func(pos int32) string { return d.Chairs[pos].Features }) {
		want := setOf(len(d.Chairs), func(pos int32) bool { return hasFeature(d.Chairs[pos].Features, label) })
		if !slices.Equal(got, want) || want.count() == 0 {
			t.Errorf("%s: %d rows, want %d", label, got.count(), want.count())
		}
	}
	if len(insideOthers(c)) == 0 {
		t.Error("no label is part of another")
	}
}
