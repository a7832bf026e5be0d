package selftest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/proof/search"
)

// A Scene is a simulated site with its candidates and machine, searched under several time
// limits.
type Scene struct {
	Name     string // as in iikanji selftest --world NAME
	Says     string
	Searches []Search // one for each budget; each has the budget as its name
	// Interplay: changes interact there, so that the goals for such sites hold.
	Interplay bool
}

// Budgets of time.
var (
	shortAndLong = []time.Duration{quarter, hour}
	noLimit      = time.Duration(0)
)

// scene makes a scene of one search under several limits.
func scene(name, says string, s Search, limits ...time.Duration) Scene {
	one := Scene{Name: name, Says: says}
	for _, limit := range limits {
		s.Options.Time, s.Name = limit, limitText(limit)
		one.Searches = append(one.Searches, s)
	}
	return one
}

// interacting marks a scene.
func interacting(s Scene) Scene {
	s.Interplay = true
	return s
}

// Scenes are all scenes, in the order of the documentation.
func Scenes() []Scene {
	return slices.Concat(interplays(), minuteScenes(), historyScenes(), ladderScenes(), machineScenes(), changeScenes(), randomScenes())
}

// FindScene finds a scene by its name.
func FindScene(name string) (Scene, error) {
	var names []string
	for _, s := range Scenes() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scene{}, fmt.Errorf("no world %q; there are %s", name, strings.Join(names, ", "))
}

// three is the noise of most scenes.
var three = World{Sigma: 0.03}

// interplays are sites whose changes interact.
func interplays() []Scene {
	of := func(t Truth, n int) Search {
		return Search{World: three, Candidates: candidates(n, 0), Truth: t, Options: options(0)}
	}
	// D is 0, E is 1, H is 2.
	table := Interplay{{With: setOf(0), Share: 0.25}, {With: setOf(0, 1), Share: 0.20}, {With: setOf(2), Without: setOf(0), Share: 0.12}, {With: setOf(0, 2), Share: -0.10}}
	either := Interplay{{With: setOf(0), Share: 0.15}, {With: setOf(1), Without: setOf(0), Share: 0.15}}
	return []Scene{
		interacting(scene("interactions", "D +25 %; E nothing alone, +20 % with D; H +12 % without D, -10 % with it; 8 nulls; 3 % noise", of(table, 11), quarter, hour, noLimit)),
		interacting(scene("sequence", "the slower one of app and database decides: they need 90 and 100; 3 changes save 12 to 30 of the database's, 2 changes 15 and 25 of the app's; 8 nulls; 3 % noise", of(inSequence(math.Inf(1), false), 14), shortAndLong...)),
		interacting(scene("shift", "the same, and one of the changes moves 20 from the database to the app", of(inSequence(math.Inf(1), true), 14), shortAndLong...)),
		interacting(scene("substitutes", "either of two changes brings +15 %, both together no more; 8 nulls; 3 % noise", of(either, 10), shortAndLong...)),
		interacting(scene("amdahl", "app, database and locks one after the other (50, 40 and 10); 5 changes save 30 to 60 % of a piece; 8 nulls; 3 % noise", of(amdahl(), 13), shortAndLong...)),
		interacting(limitMoves(shortAndLong...)),
		interacting(absorbed(shortAndLong...)),
	}
}

// inSequence is a site whose app and database take turns as the limit. Its candidates 0 to 2
// save work of the database, 3 and 4 of the app; the fifth moves work if it is wanted, and
// does nothing otherwise. All others do nothing.
func inSequence(norm float64, moves bool) *Stack {
	t := &Stack{Norm: norm, Pieces: []Piece{{Database, 30}, {Database, 20}, {Database, 15}, {Database, 35}, {App, 30}, {App, 25}, {App, 35}},
		Acts: make([][]Touch, 14)}
	t.Acts[0], t.Acts[1], t.Acts[2] = saves(0, 1), saves(1, 0.9), saves(2, 0.8)
	t.Acts[3], t.Acts[4] = saves(4, 0.85), saves(5, 0.6)
	if moves {
		t.Acts[5] = []Touch{{Piece: 3, Factor: 3.0 / 7}, {Piece: 6, Factor: 1, Adds: 20}}
	}
	return t
}

// amdahl is a site of one client that waits for one resource after the other.
func amdahl() *Stack {
	t := &Stack{Norm: 1, Pieces: []Piece{{App, 30}, {App, 20}, {Database, 25}, {Database, 15}, {Locks, 10}}, Acts: make([][]Touch, 13)}
	t.Acts[0], t.Acts[1], t.Acts[2] = saves(0, 0.6), saves(1, 0.3), saves(2, 0.5)
	t.Acts[3], t.Acts[4] = saves(2, 0.5), saves(4, 0.6) // 2 and 3 share a piece
	return t
}

// limitMoves is a site whose database is the limit at first and its app afterwards. A
// diagnosis sees the CPU time of both, and promises what each change saves of it.
func limitMoves(limits ...time.Duration) Scene {
	t := &Stack{Norm: 6, Pieces: []Piece{{Database, 60}, {Database, 25}, {Database, 15}, {App, 12}, {App, 10}, {App, 8}, {Locks, 15}}, Acts: make([][]Touch, 15)}
	t.Acts[0], t.Acts[1] = saves(0, 0.95), saves(1, 0.7)
	t.Acts[2], t.Acts[3], t.Acts[4] = saves(3, 0.7), saves(4, 0.5), saves(5, 0.5)
	t.Acts[5], t.Acts[6] = saves(6, 0.5), saves(2, 0.4)
	cs := candidates(15, 0)
	cs[5].Promise = 0.1
	for k := 7; k < 15; k++ {
		cs[k].Promise = []float64{0.05, 0.1, 0.3, 0.08}[k%4]
	}
	return scene("limit-moves", "the database needs 100, the app 30, locks 15: 7 changes save pieces; 8 nulls promise something, too; 3 % noise",
		Search{World: three, Candidates: cs, Truth: t, Options: options(0)}, limits...)
}

// absorbed is a site on which other requests use what one cure saves. The score rises when
// the database and the locks are both relieved; if only the database is, the app has more to
// do for requests that score nothing.
func absorbed(limits ...time.Duration) Scene {
	t := Absorbing{&Stack{Norm: math.Inf(1), Pieces: []Piece{{Database, 60}, {Database, 38}, {Locks, 50}, {Locks, 46}, {App, 40}}, Acts: make([][]Touch, 10)}, 0.6}
	t.Acts[0], t.Acts[1] = saves(0, 0.8), saves(2, 0.8)
	cs := candidates(10, 0)
	cs[1].Promise = 0.3
	for k := 2; k < 10; k++ {
		cs[k].Promise = []float64{0.05, 0.1, 0.3, 0.08}[k%4]
	}
	return scene("absorbed", "database 98, locks 96, app 40: one change saves 48 of the database, which the app uses for requests that score nothing, and one 40 of the locks; alone 2 % and 0 %, together x 1.8; 8 nulls; 3 % noise",
		Search{World: three, Candidates: cs, Truth: t, Options: options(0)}, limits...)
}

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
	table.Truth = Interplay{{With: setOf(0), Share: 0.50}, {With: setOf(0, 1), Share: 0.30}, {With: setOf(2), Without: setOf(0), Share: 0.20}, {With: setOf(0, 2), Share: -0.10}}
	return []Scene{
		scene("minutes", "75 s a run: +50 %, +30 %, 3 x +8 %, 3 x -8 %, 9 nulls; 3 % noise", minutes(three, cs), limits...),
		scene("minutes-noisy", "the same with 6 % noise", minutes(World{Sigma: 0.06}, cs), limits...),
		scene("minutes-promises", "the same with 3 % noise and promises of 0.05 to 0.3 that mean nothing", minutes(three, promising), 20*time.Minute, hour),
		interacting(scene("minutes-interactions", "75 s a run: D +50 %; E nothing alone, +30 % with D; H +20 % without D, -10 % with it; 8 nulls; 3 % noise", table, 20*time.Minute, hour)),
		scene("minutes-nulls", "75 s a run: 15 nulls; 5 % noise", minutes(World{Sigma: 0.05}, candidates(15, 0)), 20*time.Minute, hour),
	}
}

// historyScenes are several searches in a row on one history.
func historyScenes() []Scene {
	again := Scene{Name: "again", Says: "15 nulls, 5 % noise: searches of 15 min in a row on one history"}
	mixedAgain := Scene{Name: "again-mixed", Says: "3 x +8 %, 3 x -8 %, 9 nulls, 3 % noise: searches of 15 min in a row on one history"}
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

// machineScenes are nulls, and nulls with three gains, on machines that break the
// assumptions.
func machineScenes() []Scene {
	nulls := func(w World) Search { return Search{World: w, Candidates: candidates(15, 0), Options: options(0)} }
	gains := func(w World) Search {
		return Search{World: w, Candidates: slices.Concat(candidates(3, 0.12), candidates(12, 0)), Options: options(0)}
	}
	noisier := nulls(three)
	for k := range noisier.Candidates {
		noisier.Candidates[k].Noise = []float64{2, 2.5, 3}[k%3]
	}
	noisy := gains(three)
	noisy.Candidates = slices.Clone(noisy.Candidates)
	for k := range noisy.Candidates {
		noisy.Candidates[k].Noise = []float64{1, 2, 3}[k%3]
	}
	return []Scene{
		scene("nulls", "15 nulls; 5 % noise", nulls(World{Sigma: 0.05}), quarter, hour, noLimit),
		scene("third-run", "every third run loses 30 %; 15 nulls; 5 % noise", nulls(World{Sigma: 0.05, EveryThird: 0.3}), shortAndLong...),
		scene("third-run-gains", "every third run loses 30 %; 3 x +12 %, 12 nulls; 3 % noise", gains(World{Sigma: 0.03, EveryThird: 0.3}), shortAndLong...),
		scene("sine", "a sine of 10 % with a period of 13 to 60 s; 15 nulls; 2 % noise", nulls(World{Sigma: 0.02, Sine: 0.1}), shortAndLong...),
		scene("sine-26s", "a sine of 10 % with a period of 26 s; 15 nulls; 2 % noise", nulls(World{Sigma: 0.02, Sine: 0.1, Period: 26 * time.Second}), shortAndLong...),
		scene("sine-39s", "a sine of 10 % with a period of 39 s; 15 nulls; 2 % noise", nulls(World{Sigma: 0.02, Sine: 0.1, Period: 39 * time.Second}), shortAndLong...),
		scene("sine-52s", "a sine of 10 % with a period of 52 s; 15 nulls; 2 % noise", nulls(World{Sigma: 0.02, Sine: 0.1, Period: 52 * time.Second}), shortAndLong...),
		scene("noisier", "15 nulls with each of which the noise is x 2 to 3; 3 % noise", noisier, shortAndLong...),
		scene("noisier-trials", "15 nulls; runs of candidates have 2.5 x the noise of 3 %", nulls(World{Sigma: 0.03, Candidate: 2.5}), shortAndLong...),
		scene("noisier-gains", "3 x +12 %, 12 nulls, with two thirds of which the noise is x 2 to 3; 3 % noise", noisy, shortAndLong...),
		scene("modes", "two modes 10 % apart; 3 x +12 %, 12 nulls; 2 % noise", gains(World{Sigma: 0.02, Modes: 0.10}), shortAndLong...),
		scene("steps", "scores in steps of 5 %; 3 x +12 %, 12 nulls; 3 % noise", gains(World{Sigma: 0.03, Step: 0.05}), shortAndLong...),
		scene("steps-quiet", "scores in steps of 5 %; 3 x +12 %, 12 nulls; 1 % noise", gains(World{Sigma: 0.01, Step: 0.05}), shortAndLong...),
		scene("noiseless", "whole scores without noise; 3 x +12 %, 3 x -8 %, 9 nulls", Search{World: World{Whole: true},
			Candidates: slices.Concat(candidates(3, 0.12), candidates(3, -0.08), candidates(9, 0)), Options: options(0)}, shortAndLong...),
	}
}

// changeScenes are sites with changes of special kinds.
func changeScenes() []Scene {
	voids := func(share float64) Search {
		return Search{World: World{Sigma: 0.03, Voids: share}, Candidates: slices.Concat(candidates(3, 0.12), candidates(12, 0)), Options: options(0)}
	}
	own := Search{World: three, Candidates: append([]Candidate{{Effect: 0.2, Voids: 0.5}}, candidates(10, 0)...), Options: options(0)}
	late := Search{World: three, Candidates: append([]Candidate{{Effect: 0.5}, {Effect: 0.08, Late: -0.2}}, candidates(8, 0)...), Options: options(0)}
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
	return scene("counters", "3 x +12 %, two of which examine fewer rows; 2 x 0 % that examine fewer rows, 9 nulls; 5 % noise",
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
	t := Interplay{{With: setOf(0), Share: 0.3}, {With: setOf(1), Share: 0.12}, {With: setOf(5), Share: 0.3}, {With: setOf(6), Share: -0.05},
		{With: setOf(0, 7), Share: 0.25}, {With: setOf(8), Share: -0.1}, {With: setOf(9), Share: 0.2}}
	return interacting(scene("rewrites", "6 rewrites (+30 %, +12 %, 3 x 0 %, one that answers otherwise), a constant with 3 values (-5 %, +25 % with the first rewrite, -10 %), an index of +20 %, 5 nulls; 3 % noise",
		Search{World: three, Candidates: cs, Truth: t, Options: options(0)}, limits...))
}
