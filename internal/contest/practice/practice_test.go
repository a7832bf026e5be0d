package practice

import (
	"math"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/lab"
)

// TestLimits: machines share what core 0 leaves, by their sizes; one machine of three is as large as
// each of three.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		n, cores int
		o        Options
		want     float64
	}{
		{0, 4, Options{Hosts: 3}, 0.9},
		{2, 4, Options{Hosts: 3}, 0.9},
		{0, 4, Options{Hosts: 1, Of: 3}, 0.9},
		{0, 4, Options{Hosts: 1}, 2.7},
		{0, 2, Options{Hosts: 1}, 0.9},
		{1, 2, Options{Hosts: 3}, 0.45},
		{0, 2, Options{Hosts: 1, Of: 3}, 0.45},
		{2, 5, Options{Hosts: 3, Sizes: []int{1, 1, 2}}, 1.8},
		{0, 1, Options{Hosts: 3}, 0},
	} {
		is := limits(c.n, c.o, c.cores)
		if math.Abs(is.CPU-c.want) > 1e-9 || (c.cores == 1) != (is == lab.Limits{}) {
			t.Errorf("%+v: %+v, want %g cores", c, is, c.want)
		}
	}
}
