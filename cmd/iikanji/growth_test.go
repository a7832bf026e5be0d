package main

import "testing"

// TestGrowth: the line has the points of each whole second, and a new run begins a
// new line.
func TestGrowth(t *testing.T) {
	var g growth
	for _, c := range []struct {
		at, score float64
		want      string
	}{{0.1, 10, ""}, {0.9, 70, ""}, {1.2, 80, "█"}, {1.9, 200, "█"}, {2, 210, "▄█"}, {3.5, 210, "▄█▂"}, {4.1, 350, "▄█▂▁"}, {5.1, 490, "▄█▂▁█"}, {0.2, 1, ""}, {1.2, 5, "▁"}, {-1, 9, "▁"}} {
		g.add(c.at, c.score)
		if got := g.line(10); got != c.want {
			t.Errorf("at %g: %q, want %q (%v)", c.at, got, c.want, g.seconds)
		}
	}
}
