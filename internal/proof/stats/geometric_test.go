package stats

import "testing"

func TestGeometricMean(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{{nil, 0}, {[]float64{5}, 5}, {[]float64{1, 4}, 2}, {[]float64{100, 1000, 10000}, 1000}} {
		near(t, "geometric mean", GeometricMean(c.x), c.want, 1e-9)
	}
}
