package lines

import "testing"

// TestGrowth checks the times between which records were written.
func TestGrowth(t *testing.T) {
	var g Growth
	if from, to := g.Written(5); from != 0 || to != 0 {
		t.Errorf("without a look: %d %d", from, to)
	}
	for _, p := range []growthPoint{{900, 1, 2}, {100, 10, 11}, {100, 20, 21}, {100, 30, 31}, {100, 40, 41}, {150, 50, 51}, {300, 60, 62}} {
		g.Note(p.size, p.asked, p.seen)
	}
	if len(g.points) != 4 {
		t.Errorf("%d points are kept: %v", len(g.points), g.points)
	}
	for _, c := range []struct{ offset, from, to int64 }{
		{0, 0, 11}, {99, 0, 11}, // written before the first look after the log was replaced
		{100, 40, 51}, {149, 40, 51},
		{150, 50, 62}, {299, 50, 62},
		{300, 60, 0}, // after the last look
	} {
		if from, to := g.Written(c.offset); from != c.from || to != c.to {
			t.Errorf("offset %d: %d to %d, want %d to %d", c.offset, from, to, c.from, c.to)
		}
	}
}
