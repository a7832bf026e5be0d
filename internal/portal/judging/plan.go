package judging

import (
	"math/rand/v2"
	"time"
)

// A Planned is one run of the plan. Worker is an index into the pool, or -1 for any.
type Planned struct {
	Team   string
	Block  int
	Worker int
}

// Blocks plans runs: each block has all teams once, in random order, and the runs of a team
// are on different workers as far as there are enough, so that a slow hour or a bad worker
// hits all alike.
func Blocks(teams []string, runs, workers int, seed uint64) []Planned {
	rng := rand.New(rand.NewPCG(seed, 0x66696e616c))
	first := map[string]int{} // worker of the first block
	var out []Planned
	for block := range runs {
		for i, at := range rng.Perm(len(teams)) {
			p := Planned{Team: teams[at], Block: block, Worker: -1}
			if workers > 0 {
				if block == 0 {
					first[p.Team] = i % workers
				}
				p.Worker = (first[p.Team] + block) % workers
			}
			out = append(out, p)
		}
	}
	return out
}

// Duration is how long a plan takes on a pool, with one reboot for all before it.
func Duration(plan []Planned, workers int, run, reboot time.Duration) time.Duration {
	if workers <= 0 {
		return 0
	}
	busy := make([]time.Duration, workers)
	end := reboot
	for i, p := range plan {
		w := p.Worker
		if w < 0 {
			w = i % workers
		}
		busy[w] += run
		end = max(end, reboot+busy[w])
	}
	return end
}
