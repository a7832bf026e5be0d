package stats

import "math"

// Limits of a race.
const (
	RaceFirst = 3 // blocks before anyone may be dropped
	RaceCap   = 6 // blocks at most
)

// Race looks at rival candidates after some blocks. scores[c][b] is what
// candidate c scored (as a logarithm) in block b; candidates that were dropped
// before have fewer blocks than the others and stay out. From [RaceFirst]
// blocks on it drops those whose paired moderated t against the leader has an
// upper bound below 0 (as irace does; López-Ibáñez et al. 2016, Operations
// Research Perspectives 3). leader is the best mean, -1 for no full block;
// done says that one is left or that [RaceCap] blocks are through.
func Race(scores [][]float64, p Prior, alpha float64) (leader int, drop []int, done bool) {
	blocks := 0
	for _, s := range scores {
		blocks = max(blocks, len(s))
	}
	leader, best, alive := -1, math.Inf(-1), 0
	for c, s := range scores {
		if blocks > 0 && len(s) == blocks {
			alive++
			if m := Mean(s); m > best {
				leader, best = c, m
			}
		}
	}
	if blocks < RaceFirst {
		return leader, nil, alive == 1
	}
	for c, s := range scores {
		if c == leader || len(s) < blocks {
			continue
		}
		if Moderate(Differences(scores[leader], s), p).Upper(alpha) < 0 {
			drop = append(drop, c)
		}
	}
	return leader, drop, alive-len(drop) == 1 || blocks >= RaceCap
}
