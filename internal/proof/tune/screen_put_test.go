package tune

import (
	"context"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// writes counts the files that changes write.
type writes struct {
	change.Hands
	n int
}

func (w *writes) Perform(ctx context.Context, op iikanji.Op) error {
	w.n++
	return w.Hands.Perform(ctx, op)
}

// TestScreenPut: whatever rows follow each other, the site has exactly the parts of the
// row, of two at one place the later one, and a part that two rows share stays unless
// one below it at its place differs.
func TestScreenPut(t *testing.T) {
	m, tu := newMeadow(t, 61)
	w := &writes{Hands: tu.Acts.Hands}
	tu.Acts.Hands = w
	if err := tu.openLedger(); err != nil {
		t.Fatal(err)
	}
	d := &design{shared: tu.shared, restorer: tu.restorer, runner: tu.runner, planner: tu.planner, queue: tu.queue, variants: map[string]*iikanji.Change{}}
	turns := [][2]string{{"a", "1"}, {"b", "1"}, {"b", "2"}, {"c", "1"}, {"b", "3"}}
	var parts []Candidate
	for _, turned := range turns {
		parts = append(parts, Candidate{Remedy: turn("", turned[0], turned[1], 0.1).Remedies[0]})
	}
	if err := d.plan(t.Context(), parts); err != nil || len(d.parts) != len(parts) {
		t.Fatal(len(d.parts), err)
	}
	put := func(row ...bool) int {
		t.Helper()
		before := w.n
		if err := d.put(t.Context(), row); err != nil || d.why != "" {
			t.Fatal(row, d.why, err)
		}
		want, latest := map[string]bool{}, map[string]string{}
		for i, on := range row {
			if on {
				latest[turns[i][0]] = turns[i][1]
			}
		}
		for name, value := range latest {
			want[name+"="+value] = true
		}
		if on := m.on(); !maps.Equal(on, want) {
			t.Fatalf("row %v: the site is %v, want %v", row, on, want)
		}
		return w.n - before
	}
	rng := rand.New(rand.NewPCG(61, 1))
	for range 60 {
		row := make([]bool, len(parts))
		for i := range row {
			row[i] = rng.IntN(2) == 0
		}
		put(row...)
	}
	put(true, true, true, true, true)
	for _, c := range []struct {
		row  []bool
		want int
	}{
		{[]bool{false, true, true, true, true}, 1}, // the first part goes, and no other one is written
		{[]bool{true, true, true, false, true}, 2},
		{[]bool{true, true, true, false, false}, 1},
		{[]bool{true, false, true, false, false}, 3}, // b=2 stood on b=1
		{[]bool{true, false, true, false, false}, 0},
		{[]bool{false, false, false, false, false}, 2},
	} {
		if got := put(c.row...); got != c.want {
			t.Errorf("row %v: %d writes, want %d", c.row, got, c.want)
		}
	}
}
