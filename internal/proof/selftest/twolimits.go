package selftest

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji/internal/proof/search"
)

// twoLimits are searches of ordinary sites as they are found: a few related indexes first, and
// rewrites of source once the app is the limit. The load is a benchmark's of one length.
func twoLimits() []Scene {
	limits := []time.Duration{20 * time.Minute, 40 * time.Minute}
	of := func(load, overhead time.Duration, pairs int) Search {
		return Search{World: World{Sigma: twoLimitsNoise / math.Sqrt2}, Draw: drawTwoLimits, Overhead: overhead,
			Options: search.Options{Short: load, Full: load, Watch: load, Pairs: pairs}}
	}
	return []Scene{
		interacting(scene("two-limits",
			"24 s a run, a site of its own for each search: 3 or 4 related indexes of x 1.5 to 2.5 each, together "+
				"about x 4; then the app is the limit, and 3 or 4 rewrites of source of x 1.3 to 2, which bring nothing "+
				"before; 8 to 15 nulls, a third of them rewrites, 1 or 2 that harm; promises off by a factor of 2; noise of a pair 7 %",
			of(20*time.Second, 4*time.Second, 4), limits...)),
		interacting(scene("two-limits-minutes", "the same with 66 s a run", of(time.Minute, 6*time.Second, 2), limits...)),
	}
}

// twoLimitsNoise is the noise of a pair there.
const twoLimitsNoise = 0.07

// The work of a request of such a site, where the untouched one has 100 of the database.
const (
	slowStatements  = 94 // which the indexes make cheap
	smallStatements = 6  // of loops that the rewrites of source join to one
	appWork         = 25 // the database's with all indexes is below it
	leastCheaper    = 8  // times that all indexes make the slow statements, at least
)

// drawTwoLimits draws such a site. Piece 0 are the slow statements, 1 the small ones, 2 the work
// of the app that no rewrite saves; each rewrite has a piece of the app of its own.
func drawTwoLimits(rng *rand.Rand) ([]Candidate, Truth) {
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }
	t := &Stack{Norm: 6, Pieces: []Piece{{Database, slowStatements}, {Database, smallStatements}, {App, 0}}}
	indexes, rewrites := 3+rng.IntN(2), 3+rng.IntN(2)
	for cheaper := 0.0; cheaper < leastCheaper; {
		t.Acts, cheaper = nil, 1
		for range indexes {
			times := between(1.6, 2.8)
			t.Acts, cheaper = append(t.Acts, []Touch{{Piece: 0, Factor: 1 / times}}), cheaper*times
		}
	}
	cs := candidates(indexes, 0)
	app := appWork * between(0.85, 1.2)
	for range rewrites { // each by what the ones before it leave
		saved := app * (1 - 1/between(1.3, 1.8))
		app -= saved
		t.Pieces = append(t.Pieces, Piece{App, saved})
		t.Acts = append(t.Acts, []Touch{{Piece: len(t.Pieces) - 1, Factor: 0.05}, {Piece: 1, Factor: 0.7}})
		cs = append(cs, Candidate{Kind: Rewrite})
	}
	t.Pieces[2].Work = app
	for range 1 + rng.IntN(2) {
		t.Acts = append(t.Acts, []Touch{{Piece: 2, Factor: between(1.3, 1.8)}, {Piece: 0, Factor: between(1.05, 1.15)}})
		cs = append(cs, Candidate{})
	}
	useful := indexes + rewrites
	for i := range 8 + rng.IntN(8) {
		t.Acts = append(t.Acts, nil)
		kind := Index
		if i%3 == 0 {
			kind = Rewrite
		}
		cs = append(cs, Candidate{Kind: kind})
	}
	for k := range cs {
		promise := 0.02 + 0.3*rng.Float64()*rng.Float64()
		if k < useful {
			promise = -math.Log1p(-t.Touched(0, k)) * math.Exp(math.Ln2*rng.NormFloat64())
		}
		cs[k].Promise = promise
	}
	return cs, t
}
