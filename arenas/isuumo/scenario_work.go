package isuumo

import (
	"fmt"
	"hash/fnv"
)

// workGauge is the gauge with the digest of the offered work.
const workGauge = "offered work (digest)"

// Size of the sample of a worker's stream that the digest covers.
const (
	sampledQueries  = 10
	sampledPolygons = 3
)

// work returns a digest of the work that the seed offers: the first choices of
// every worker that can join.
func (ct *contest) work() float64 {
	h, w, all := fnv.New64a(), ct.world, wholeCrew(maxLevel)
	sample := func(kind string, n int, pickers []picker, size int) {
		for i := range n {
			rng := ct.s.Rand(workerName(kind, i))
			fmt.Fprintln(h, humanAgent(rng))
			for range sampledQueries {
				q := drawQuery(rng, pickers, conditionsAt(maxLevel), size)
				fmt.Fprintln(h, q.path(""))
			}
		}
	}
	sample("chair user", all.chairs, w.chairPickers, userPage)
	sample("estate user", all.estates, w.estatePickers, userPage)
	sample("bot", all.bots, w.chairPickers, botPage)
	for i := range all.polygons {
		rng := ct.s.Rand(workerName("polygon user", i))
		for range sampledPolygons {
			fmt.Fprintln(h, w.estates.draw(rng))
		}
	}
	return float64(h.Sum64() >> 11) // exact in a float64
}
