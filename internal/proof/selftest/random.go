package selftest

import (
	"math"
	"math/rand/v2"
	"time"
)

// randomScenes are sites of which each single search has its own, so that nothing can be
// fitted to one of them.
func randomScenes() []Scene {
	s := Search{World: three, Draw: drawSite, Options: options(0)}
	slow := minutes(three, nil)
	slow.Draw = drawSite
	return []Scene{
		interacting(scene("sites",
			"a site of its own for each search: app, database and locks with 6 to 10 pieces of work; 12 to 18 "+
				"changes, half of them nulls, some that move work or harm; promises off by a factor of 2; 3 % "+
				"noise",
			s, quarter, hour)),
		interacting(scene("minutes-sites", "the same with 75 s a run", slow, 20*time.Minute, hour)),
	}
}

// drawSite draws a site: pieces of work on its resources, and changes that save pieces, move
// work from one resource to another, harm, or do nothing.
func drawSite(rng *rand.Rand) ([]Candidate, Truth) {
	t := &Stack{Norm: []float64{1, 3, 8, math.Inf(1)}[rng.IntN(4)]}
	for range 6 + rng.IntN(5) {
		t.Pieces = append(t.Pieces, Piece{[]Resource{App, App, Database, Database, Locks}[rng.IntN(5)], 5 + 25*rng.Float64()})
	}
	var cs []Candidate
	for range 12 + rng.IntN(7) {
		acts := drawActs(t, rng)
		t.Acts = append(t.Acts, acts)
		cs = append(cs, Candidate{})
	}
	for k := range cs {
		promise := 0.02 + 0.2*rng.Float64()*rng.Float64() // of a null
		if t.Acts[k] != nil {
			promise = -math.Log1p(-min(0.9, t.Touched(0, k))) * math.Exp(math.Ln2*rng.NormFloat64())
		}
		cs[k].Promise = promise
	}
	return cs, t
}

// drawActs draws what one change does; nil is nothing.
func drawActs(t *Stack, rng *rand.Rand) []Touch {
	from, to := rng.IntN(len(t.Pieces)), rng.IntN(len(t.Pieces))
	share := 0.2 + 0.7*rng.Float64()
	switch p := rng.Float64(); {
	case p < 0.35:
		return saves(from, share)
	case p < 0.43 && t.Pieces[from].Of != t.Pieces[to].Of: // moves most of what it saves
		adds := t.Pieces[from].Work * share * (0.5 + 0.6*rng.Float64())
		return []Touch{{Piece: from, Factor: 1 - share}, {Piece: to, Factor: 1, Adds: adds}}
	case p < 0.53: // harms
		return []Touch{{Piece: from, Factor: 1.1 + 0.6*rng.Float64()}}
	}
	return nil
}
