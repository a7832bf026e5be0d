package tally

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestQuantileWithinOnePercent compares the sketch with exact nearest ranks on
// shapes that logs have.
func TestQuantileWithinOnePercent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func() time.Duration{
		"uniform":   func() time.Duration { return time.Duration(r.Int64N(int64(time.Second))) },
		"lognormal": func() time.Duration { return time.Duration(math.Exp(r.NormFloat64()*2) * 1e6) },
		"millis":    func() time.Duration { return time.Duration(r.Int64N(300)) * time.Millisecond },
		"tiny":      func() time.Duration { return time.Duration(r.Int64N(50)) },
		"bimodal": func() time.Duration {
			if r.IntN(20) == 0 {
				return 3*time.Second + time.Duration(r.Int64N(1e8))
			}
			return time.Duration(r.Int64N(1e6))
		},
	}
	for name, next := range shapes {
		var s Sketch
		all := make([]time.Duration, 20_000)
		var sum time.Duration
		for i := range all {
			all[i] = next()
			sum += all[i]
			s.Add(all[i])
		}
		slices.Sort(all)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
			want := all[max(int(math.Ceil(q*float64(len(all)))), 1)-1]
			if got := s.Quantile(q); math.Abs(float64(got-want)) > 0.01*float64(want) {
				t.Errorf("%s: q%v = %v, want %v within 1 %%", name, q, got, want)
			}
		}
		if s.Sum() != sum || s.Min() != all[0] || s.Max() != all[len(all)-1] || s.Count() != int64(len(all)) {
			t.Errorf("%s: sum, min, max or count is not exact", name)
		}
	}
}

// TestMergeIsAddition: splitting the input anywhere changes nothing.
func TestMergeIsAddition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var whole, left, right Sketch
	for range 5000 {
		d := time.Duration(r.Int64N(1 << r.IntN(40)))
		whole.Add(d)
		if r.IntN(3) == 0 {
			left.Add(d)
		} else {
			right.Add(d)
		}
	}
	left.Merge(&right)
	a, _ := whole.MarshalBinary()
	b, _ := left.MarshalBinary()
	if !bytes.Equal(a, b) {
		t.Error("merging changed something")
	}
}

// TestBucketsCoverEverything: every value lies in its bucket, to the largest.
func TestBucketsCoverEverything(t *testing.T) {
	for _, v := range []uint64{0, 1, 63, 64, 65, 127, 128, 1 << 20, 1<<20 - 1, 1<<62 + 12345, math.MaxInt64} {
		page, slot := bucketOf(v)
		mid := bucketMid(page, slot)
		if diff := math.Abs(float64(mid) - float64(v)); diff > 0.008*float64(v) {
			t.Errorf("%d: middle %d is off by %.3f %%", v, mid, 100*diff/float64(v))
		}
	}
}
