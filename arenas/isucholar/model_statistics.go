package isucholar

import (
	"math"
	"slices"
)

// A spread has the statistics of a list as the API shows them.
type spread struct{ average, most, least, deviation float64 }

func spreadOf(list []float64) spread {
	if len(list) == 0 {
		return spread{}
	}
	s := spread{most: slices.Max(list), least: slices.Min(list)}
	for _, v := range list {
		s.average += v / float64(len(list))
	}
	for _, v := range list {
		s.deviation += (v - s.average) * (v - s.average) / float64(len(list))
	}
	s.deviation = math.Sqrt(s.deviation)
	return s
}

// tScore is 50 for the average, and 10 more for each standard deviation above it.
func (s spread) tScore(v float64) float64 {
	if s.most == s.least || s.deviation == 0 {
		return 50
	}
	return (v-s.average)/s.deviation*10 + 50
}
