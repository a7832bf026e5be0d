package tune

import (
	"context"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/search"
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
	turns := [][2]string{{"a", "1"}, {"b", "1"}, {"b", "2"}, {"c", "1"}, {"b", "3"}}
	var parts []search.Candidate
	for _, turned := range turns {
		parts = append(parts, search.Candidate{Remedy: turn("", turned[0], turned[1], 0.1).Remedies[0]})
	}
	tu.book.learn()
	if err := tu.screen(t.Context(), parts); err != nil || tu.design == nil || len(tu.design.First) != len(parts) {
		t.Fatal(tu.design, err)
	}
	d := tu.design
	put := func(row ...bool) int {
		t.Helper()
		before := w.n
		if err := d.Put(t.Context(), row); err != nil || d.Stopped != "" {
			t.Fatal(row, d.Stopped, err)
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
