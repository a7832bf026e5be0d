package selftest

import (
	"slices"
	"time"
)

// changeScenes are sites with changes of special kinds.
func changeScenes() []Scene {
	voids := func(share float64) Search {
		return Search{World: World{Sigma: 0.03, Voids: share}, Options: options(0),
			Candidates: slices.Concat(candidates(3, 0.12), candidates(12, 0))}
	}
	own := Search{World: three, Options: options(0),
		Candidates: append([]Candidate{{Effect: 0.2, Voids: 0.5}}, candidates(10, 0)...)}
	late := Search{World: three, Options: options(0),
		Candidates: append([]Candidate{{Effect: 0.5}, {Effect: 0.08, Late: -0.2}}, candidates(8, 0)...)}
	return []Scene{
		scene("voids-10", "10 % of all runs are void; 3 x +12 %, 12 nulls; 3 % noise", voids(0.1), shortAndLong...),
		scene("voids-30", "30 % of all runs are void; 3 x +12 %, 12 nulls; 3 % noise", voids(0.3), shortAndLong...),
		scene("own-voids", "+20 % that makes half of its own runs void (harmful), 10 nulls; 3 % noise", own, shortAndLong...),
		scene("late-harm", "+50 %; +8 % in short runs that is -14 % in full ones; 8 nulls; 3 % noise", late, shortAndLong...),
		counters(shortAndLong...),
		rewrites(shortAndLong...),
	}
}

// counters is a site whose database counts the rows that it examines.
func counters(limits ...time.Duration) Scene {
	cs := slices.Concat(candidates(3, 0.12), candidates(11, 0))
	for k, rows := range []float64{0.3, 0.5, 1, 0.2, 0.6} { // three gains, two that are only cheaper
		cs[k].Rows = rows
		cs[k].Simplifies = k%2 == 1
	}
	return scene("counters",
		"3 x +12 %, two of which examine fewer rows; 2 x 0 % that examine fewer rows, 9 nulls; 5 % noise",
		Search{World: World{Sigma: 0.05}, Candidates: cs, Counts: true, Options: options(0)}, limits...)
}

// rewrites is a site with changes of source. What a knob brings depends on the rewrites.
func rewrites(limits ...time.Duration) Scene {
	cs := candidates(15, 0)
	for k := range 6 {
		cs[k] = Candidate{Kind: Rewrite, Promise: []float64{0.3, 0.1, 0.2}[k%3], Differs: k == 5}
	}
	for k := 6; k < 9; k++ {
		cs[k] = Candidate{Kind: Knob, Of: 6, Promise: 0.2}
	}
	t := Interplay{{With: setOf(0), Share: 0.3}, {With: setOf(1), Share: 0.12}, {With: setOf(5), Share: 0.3},
		{With: setOf(6), Share: -0.05},
		{With: setOf(0, 7), Share: 0.25}, {With: setOf(8), Share: -0.1}, {With: setOf(9), Share: 0.2}}
	return interacting(scene("rewrites",
		"6 rewrites (+30 %, +12 %, 3 x 0 %, one that answers otherwise), a constant with 3 values (-5 %, "+
			"+25 % with the first rewrite, -10 %), an index of +20 %, 5 nulls; 3 % noise",
		Search{World: three, Candidates: cs, Truth: t, Options: options(0)}, limits...))
}
