package isuumo

import (
	"context"
	"math/rand/v2"
	"slices"
)

// samples is the number of random requests of each kind.
const samples = 5

// A lane is a sequence of checks of one kind. The lanes run at the same time.
type lane struct {
	name  string
	check func(ctx context.Context, b *browser, rng *rand.Rand) error
}

// verifyAnswers compares random answers of every kind with the model, before
// anything is written. Here the comparison is exact.
func (ct *contest) verifyAnswers(ctx context.Context) error {
	var calls []func() error
	for _, l := range ct.lanes() {
		calls = append(calls, func() error {
			b := ct.verifier(requestTimeout)
			defer b.cl.Close()
			return l.check(ctx, b, ct.s.Rand("verify "+l.name))
		})
	}
	return together(calls...)
}

func (ct *contest) lanes() []lane {
	w := ct.world
	return []lane{
		{"lists", func(ctx context.Context, b *browser, _ *rand.Rand) error {
			return inTurn(
				func() error { return b.chairConditions(ctx) }, func() error { return b.estateConditions(ctx) },
				func() error { return b.chairLow(ctx) }, func() error { return b.estateLow(ctx) })
		}},
		{"chair", repeated(func(ctx context.Context, b *browser, rng *rand.Rand) error {
			_, err := b.chair(ctx, anyOf(rng, &w.chairs.rows))
			return err
		})},
		{"estate", repeated(func(ctx context.Context, b *browser, rng *rand.Rand) error {
			return b.estate(ctx, anyOf(rng, &w.estates.rows))
		})},
		{"chair search", ct.verifyChairSearch},
		{"estate search", ct.verifyEstateSearch},
		{"recommended", repeated(func(ctx context.Context, b *browser, rng *rand.Rand) error {
			_, err := b.recommended(ctx, anyOf(rng, &w.chairs.rows))
			return err
		})},
		{"nazotte", ct.verifyNazotte},
		{"refusals", ct.verifyRefusals},
	}
}

// repeated makes a check of samples random requests.
func repeated(check func(ctx context.Context, b *browser, rng *rand.Rand) error) func(context.Context, *browser, *rand.Rand) error {
	return func(ctx context.Context, b *browser, rng *rand.Rand) error {
		for range samples {
			if err := check(ctx, b, rng); err != nil {
				return err
			}
		}
		return nil
	}
}

// anyOf draws a row that the target must have.
func anyOf(rng *rand.Rand, r *rows) int32 {
	for {
		if pos := int32(rng.IntN(len(r.ids))); r.sure.has(pos) {
			return pos
		}
	}
}

// A searcher sends one search.
type searcher func(ctx context.Context, q *query) (page, error)

// verifyChairSearch searches features, and then pages of one condition as users
// do. The contest searched features only, and so first pages only.
func (ct *contest) verifyChairSearch(ctx context.Context, b *browser, rng *rand.Rand) error {
	w := ct.world
	return verifySearches(ctx, rng, w.chairPickers, w.chairConditions.Feature, w.chairs.feature, b.searchChairs)
}

// verifyEstateSearch does the same for estates.
func (ct *contest) verifyEstateSearch(ctx context.Context, b *browser, rng *rand.Rand) error {
	w := ct.world
	return verifySearches(ctx, rng, w.estatePickers, w.estateConditions.Feature, w.estates.feature, b.searchEstates)
}

func verifySearches(ctx context.Context, rng *rand.Rand, pickers []picker, list ListCondition, sets map[string]bitset, search searcher) error {
	var queries []*query
	for range samples {
		queries = append(queries, drawFeatures(rng, pickers, list, sets))
	}
	if nested := insideOthers(list); len(nested) > 0 { // one is enough: all are found in the same way
		queries = append(queries, &query{size: userPage, conditions: []condition{features(list, sets, nested[:1])}})
	}
	q := drawQuery(rng, pickers, 1, userPage)
	second := *q
	second.page = 1
	for _, q := range append(queries, q, &second) {
		if _, err := search(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// insideOthers returns the indexes of the labels that are a part of another one.
// A search finds the other one too.
func insideOthers(list ListCondition) (indexes []int) {
	for i, label := range list.List {
		if slices.ContainsFunc(list.List, func(other string) bool { return other != label && hasFeature(other, label) }) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// drawLimit is the number of polygons after which the verification takes the next
// one, whatever it has inside.
const drawLimit = 500

// verifyNazotte draws polygons that have estates inside, which random ones often
// have not, and the last one with more than an answer can hold.
func (ct *contest) verifyNazotte(ctx context.Context, b *browser, rng *rand.Rand) error {
	for i := range samples {
		least := 1
		if i == samples-1 {
			least = nazotteRows + 1
		}
		if _, err := b.nazotte(ctx, ct.world.estates.drawWith(rng, least)); err != nil {
			return err
		}
	}
	return nil
}

// drawWith draws polygons until one has at least as many rows of the target
// inside.
func (t *estates) drawWith(rng *rand.Rand, least int) (p polygon) {
	for range drawLimit {
		p = t.draw(rng)
		n := 0
		for range t.which(t.inside(p)) {
			if n++; n == least {
				return p
			}
		}
	}
	return p
}
