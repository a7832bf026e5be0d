package selftest

import (
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/proof/search"
)

// minutes are searches with the fixed load of a minute of an outside benchmarker, 75 s a run.
func minutes(w World, cs []Candidate) Search {
	return Search{World: w, Candidates: cs, Overhead: 15 * time.Second,
		Options: search.Options{Short: time.Minute, Full: time.Minute, Watch: time.Minute, Pairs: 2}}
}

// minuteScenes are searches with runs of 75 s.
func minuteScenes() []Scene {
	cs := slices.Concat(candidates(1, 0.5), candidates(1, 0.3), candidates(3, 0.08), candidates(3, -0.08), candidates(9, 0))
	limits := []time.Duration{quarter, 20 * time.Minute, 30 * time.Minute, hour}
	promising := slices.Clone(cs)
	for k := range promising {
		promising[k].Promise = []float64{0.3, 0.1, 0.2, 0.05}[k%4]
	}
	table := minutes(three, candidates(11, 0))
	table.Truth = Interplay{{With: setOf(0), Share: 0.50}, {With: setOf(0, 1), Share: 0.30},
		{With: setOf(2), Without: setOf(0), Share: 0.20}, {With: setOf(0, 2), Share: -0.10}}
	return []Scene{
		scene("minutes", "75 s a run: +50 %, +30 %, 3 x +8 %, 3 x -8 %, 9 nulls; 3 % noise", minutes(three, cs), limits...),
		scene("minutes-noisy", "the same with 6 % noise", minutes(World{Sigma: 0.06}, cs), limits...),
		scene("minutes-promises",
			"the same with 3 % noise and promises of 0.05 to 0.3 that mean nothing",
			minutes(three, promising), 20*time.Minute, hour),
		interacting(scene("minutes-interactions",
			"75 s a run: D +50 %; E nothing alone, +30 % with D; H +20 % without D, -10 % with it; 8 nulls; 3 "+
				"% noise",
			table, 20*time.Minute, hour)),
		scene("minutes-nulls",
			"75 s a run: 15 nulls; 5 % noise",
			minutes(World{Sigma: 0.05}, candidates(15, 0)), 20*time.Minute, hour),
	}
}

// historyScenes are several searches in a row on one history.
func historyScenes() []Scene {
	again := Scene{Name: "again", Says: "15 nulls, 5 % noise: searches of 15 min in a row on one history"}
	mixedAgain := Scene{Name: "again-mixed",
		Says: "3 x +8 %, 3 x -8 %, 9 nulls, 3 % noise: searches of 15 min in a row on one history"}
	for _, n := range []int{1, 2, 4, 8} {
		s := nulls(World{Sigma: 0.05}, quarter)
		s.Name, s.Rounds = fmt.Sprintf("%d of 15 min", n), n
		again.Searches = append(again.Searches, s)
		if n == 1 || n == 4 {
			s.World, s.Candidates = three, slices.Concat(candidates(3, 0.08), candidates(3, -0.08), candidates(9, 0))
			mixedAgain.Searches = append(mixedAgain.Searches, s)
		}
	}
	return []Scene{again, mixedAgain}
}

// ladderScenes are sites with few large gains and many small ones.
func ladderScenes() []Scene {
	harm := Ladder(three, 0)
	harm.Candidates = slices.Concat(harm.Candidates, candidates(4, -0.08))
	const says = "x 2.5, +30 %, 5 x +10 %, 12 nulls; "
	return []Scene{
		scene("ladder", says+"3 % noise", Ladder(three, 0), quarter, hour, noLimit),
		scene("ladder-noisy", says+"5 % noise", Ladder(World{Sigma: 0.05}, 0), shortAndLong...),
		scene("ladder-harm", says+"4 x -8 %; 3 % noise", harm, quarter, hour, noLimit),
	}
}

// contest is a site as a contest has it: one index halves the time of a request, then the other
// causes are of the database, the app and its locks alike. The query cache comes behind other rewrites
// of source by their rule, and is the second best change.
func contest(w World, load, full, overhead time.Duration, pairs int) Search {
	t := &Stack{Norm: 3, Acts: make([][]Touch, 20), Pieces: []Piece{{Database, 55}, {Database, 14}, {Database, 9}, {Database, 12},
		{App, 14}, {App, 8}, {App, 10}, {Locks, 8}}}
	t.Acts[0], t.Acts[1], t.Acts[2] = saves(0, 0.95), saves(1, 0.8), saves(2, 0.7)
	t.Acts[3] = []Touch{{Piece: 1, Factor: 0.4}, {Piece: 3, Factor: 0.25}, {Piece: 4, Factor: 0.4}}
	t.Acts[4], t.Acts[5] = saves(4, 0.5), saves(5, 0.6)
	t.Acts[7], t.Acts[8], t.Acts[9] = saves(7, 0.4), saves(6, 0.3), saves(3, 0.3)
	t.Acts[18], t.Acts[19] = []Touch{{Piece: 6, Factor: 1.6}}, []Touch{{Piece: 3, Factor: 1.5}}
	cs := candidates(20, 0)
	cs[3].Kind, cs[4].Kind, cs[5].Kind, cs[6].Kind = Cache, Rewrite, Rewrite, Rewrite
	for k := range cs {
		cs[k].Promise = []float64{0.05, 0.1, 0.2, 0.08}[k%4]
	}
	return Search{World: w, Candidates: cs, Truth: t, Overhead: overhead,
		Options: search.Options{Short: load, Full: full, Watch: load, Pairs: pairs}}
}

// contestScenes are searches of 20 minutes with runs of 23 s, of 35 s and of 70 s.
func contestScenes() []Scene {
	const says = " a run: an index of x 2, a query cache of +40 % then, 7 changes of less, 3 rewrites of source among them; 9 nulls, 2 that harm; "
	const limit = 20 * time.Minute
	return []Scene{
		interacting(scene("contest", "23 s"+says+"3 % noise", contest(three, 15*time.Second, time.Minute, 8*time.Second, 4), limit, hour)),
		interacting(scene("contest-noisy", "the same with 6 % noise", contest(World{Sigma: 0.06}, 15*time.Second, time.Minute, 8*time.Second, 4), limit)),
		interacting(scene("contest-minutes", "70 s"+says+"3 % noise", contest(three, time.Minute, time.Minute, 10*time.Second, 2), limit, hour)),
	}
}
