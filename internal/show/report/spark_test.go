package report

import (
	"math"
	"testing"
)

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		cols   int
		want   string
	}{
		{nil, 10, ""},
		{[]float64{1}, 0, ""},
		{[]float64{0, 0}, 10, "▁▁"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 10, "▁▂▃▄▅▆▇█"},
		{[]float64{0, 2, 6, 8}, 2, "▂█"},
		{[]float64{-5, 10, math.NaN(), math.Inf(1)}, 4, "▁█▁▁"},
	} {
		if got := Spark(c.values, c.cols); got != c.want {
			t.Errorf("Spark(%v, %d) = %q, want %q", c.values, c.cols, got, c.want)
		}
	}
}
