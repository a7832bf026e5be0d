package selftest

import (
	"math"
	"time"
)

// interplays are sites whose changes interact.
func interplays() []Scene {
	of := func(t Truth, n int) Search {
		return Search{World: three, Candidates: candidates(n, 0), Truth: t, Options: options(0)}
	}
	// D is 0, E is 1, H is 2.
	table := Interplay{{With: setOf(0), Share: 0.25}, {With: setOf(0, 1), Share: 0.20},
		{With: setOf(2), Without: setOf(0), Share: 0.12}, {With: setOf(0, 2), Share: -0.10}}
	either := Interplay{{With: setOf(0), Share: 0.15}, {With: setOf(1), Without: setOf(0), Share: 0.15}}
	return []Scene{
		interacting(scene("interactions",
			"D +25 %; E nothing alone, +20 % with D; H +12 % without D, -10 % with it; 8 nulls; 3 % noise",
			of(table, 11), quarter, hour, noLimit)),
		interacting(scene("sequence",
			"the slower one of app and database decides: they need 90 and 100; 3 changes save 12 to 30 of the "+
				"database's, 2 changes 15 and 25 of the app's; 8 nulls; 3 % noise",
			of(inSequence(math.Inf(1), false), 14), shortAndLong...)),
		interacting(scene("shift",
			"the same, and one of the changes moves 20 from the database to the app",
			of(inSequence(math.Inf(1), true), 14), shortAndLong...)),
		interacting(scene("substitutes",
			"either of two changes brings +15 %, both together no more; 8 nulls; 3 % noise",
			of(either, 10), shortAndLong...)),
		interacting(scene("amdahl",
			"app, database and locks one after the other (50, 40 and 10); 5 changes save 30 to 60 % of a "+
				"piece; 8 nulls; 3 % noise",
			of(amdahl(), 13), shortAndLong...)),
		interacting(limitMoves(shortAndLong...)),
		interacting(absorbed(shortAndLong...)),
	}
}

// inSequence is a site whose app and database take turns as the limit. Its candidates 0 to 2
// save work of the database, 3 and 4 of the app; the fifth moves work if it is wanted, and
// does nothing otherwise. All others do nothing.
func inSequence(norm float64, moves bool) *Stack {
	t := &Stack{Norm: norm, Acts: make([][]Touch, 14), Pieces: []Piece{
		{Database, 30}, {Database, 20}, {Database, 15}, {Database, 35}, {App, 30}, {App, 25}, {App, 35}}}
	t.Acts[0], t.Acts[1], t.Acts[2] = saves(0, 1), saves(1, 0.9), saves(2, 0.8)
	t.Acts[3], t.Acts[4] = saves(4, 0.85), saves(5, 0.6)
	if moves {
		t.Acts[5] = []Touch{{Piece: 3, Factor: 3.0 / 7}, {Piece: 6, Factor: 1, Adds: 20}}
	}
	return t
}

// amdahl is a site of one client that waits for one resource after the other.
func amdahl() *Stack {
	t := &Stack{Norm: 1, Acts: make([][]Touch, 13),
		Pieces: []Piece{{App, 30}, {App, 20}, {Database, 25}, {Database, 15}, {Locks, 10}}}
	t.Acts[0], t.Acts[1], t.Acts[2] = saves(0, 0.6), saves(1, 0.3), saves(2, 0.5)
	t.Acts[3], t.Acts[4] = saves(2, 0.5), saves(4, 0.6) // 2 and 3 share a piece
	return t
}

// limitMoves is a site whose database is the limit at first and its app afterwards. A
// diagnosis sees the CPU time of both, and promises what each change saves of it.
func limitMoves(limits ...time.Duration) Scene {
	t := &Stack{Norm: 6, Acts: make([][]Touch, 15), Pieces: []Piece{
		{Database, 60}, {Database, 25}, {Database, 15}, {App, 12}, {App, 10}, {App, 8}, {Locks, 15}}}
	t.Acts[0], t.Acts[1] = saves(0, 0.95), saves(1, 0.7)
	t.Acts[2], t.Acts[3], t.Acts[4] = saves(3, 0.7), saves(4, 0.5), saves(5, 0.5)
	t.Acts[5], t.Acts[6] = saves(6, 0.5), saves(2, 0.4)
	cs := candidates(15, 0)
	cs[5].Promise = 0.1
	for k := 7; k < 15; k++ {
		cs[k].Promise = []float64{0.05, 0.1, 0.3, 0.08}[k%4]
	}
	return scene("limit-moves",
		"the database needs 100, the app 30, locks 15: 7 changes save pieces; 8 nulls promise something, "+
			"too; 3 % noise",
		Search{World: three, Candidates: cs, Truth: t, Options: options(0)}, limits...)
}

// absorbed is a site on which other requests use what one cure saves. The score rises when
// the database and the locks are both relieved; if only the database is, the app has more to
// do for requests that score nothing.
func absorbed(limits ...time.Duration) Scene {
	t := Absorbing{&Stack{Norm: math.Inf(1), Acts: make([][]Touch, 10),
		Pieces: []Piece{{Database, 60}, {Database, 38}, {Locks, 50}, {Locks, 46}, {App, 40}}}, 0.6}
	t.Acts[0], t.Acts[1] = saves(0, 0.8), saves(2, 0.8)
	cs := candidates(10, 0)
	cs[1].Promise = 0.3
	for k := 2; k < 10; k++ {
		cs[k].Promise = []float64{0.05, 0.1, 0.3, 0.08}[k%4]
	}
	return scene("absorbed",
		"database 98, locks 96, app 40: one change saves 48 of the database, which the app uses for "+
			"requests that score nothing, and one 40 of the locks; alone 2 % and 0 %, together x 1.8; 8 "+
			"nulls; 3 % noise",
		Search{World: three, Candidates: cs, Truth: t, Options: options(0)}, limits...)
}
