package web

import (
	"math/rand/v2"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestPaceOf: requests of a clock, also of one that ticks seldom or trembles, and none of
// those by chance, of users who wait between requests, or in bursts.
func TestPaceOf(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	each := func(n int, count func(i int) int32) *iikanji.PerSecond {
		s := &iikanji.PerSecond{}
		for i := range n {
			s.Counts = append(s.Counts, count(i))
		}
		return s
	}
	for name, c := range map[string]struct {
		counts *iikanji.PerSecond
		rate   float64 // 0: no clock
	}{
		"twice a second":   {each(62, func(int) int32 { return 2 }), 2},
		"every 0.7 s":      {each(62, func(i int) int32 { return int32(float64(i+1)/0.7) - int32(float64(i)/0.7) }), 1 / 0.7},
		"every 3 s":        {each(200, func(i int) int32 { return map[bool]int32{true: 1}[i%3 == 0] }), 1 / 3.0},
		"trembling":        {each(90, func(i int) int32 { return 2 + int32(i%7)/6 - int32((i+3)%7)/6 }), 2},
		"too short":        {each(15, func(int) int32 { return 2 }), 0},
		"every 3 s, short": {each(62, func(i int) int32 { return map[bool]int32{true: 1}[i%3 == 0] }), 0},
		"by chance":        {each(62, func(int) int32 { return int32(random.IntN(5)) }), 0},
		"bursts":           {each(62, func(i int) int32 { return map[bool]int32{true: 20}[i%10 == 0] }), 0},
		"growing":          {each(62, func(i int) int32 { return int32(i / 6) }), 0},
		"nothing":          {each(62, func(int) int32 { return 0 }), 0},
		"not counted":      {nil, 0},
	} {
		rate, ok := paceOf(c.counts)
		if ok != (c.rate > 0) || ok && (rate < 0.9*c.rate || rate > 1.1*c.rate) {
			t.Errorf("%s: %.2f a second, %v, want %.2f", name, rate, ok, c.rate)
		}
	}
}
