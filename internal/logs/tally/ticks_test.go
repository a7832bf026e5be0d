package tally

import (
	"slices"
	"testing"
	"time"
)

// TestTicks checks that an event is spread over its time, and that its parts
// outside of the window are left out.
func TestTicks(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	w := &Window{From: start, Step: 100 * time.Millisecond, N: 5}
	at := func(ms int) int64 { return start.Add(time.Duration(ms) * time.Millisecond).UnixNano() }
	for _, c := range []struct {
		name     string
		from, to int
		want     []int64
	}{
		{"one moment", 150, 150, []int64{0, 1000}},
		{"within a tick", 110, 190, []int64{0, 1000}},
		{"over ticks", 50, 250, []int64{250, 500, 250}},
		{"from before the window", -100, 100, []int64{500}},
		{"to behind the window", 400, 600, []int64{0, 0, 0, 0, 500}},
		{"longer than the window", -250, 750, []int64{100, 100, 100, 100, 100}},
		{"before", -20, -10, nil},
		{"behind", 510, 900, nil},
	} {
		var one, sum Ticks
		one.Add(w, at(c.from), at(c.to))
		sum.Merge(&one)
		sum.Merge(&Ticks{})
		var got []int64
		if out := sum.Counts(w); out != nil {
			got = out.Counts
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	var third Ticks
	third.Add(w, at(50), at(350)) // thirds are rounded, their sum is exact
	sum := int64(0)
	for _, n := range third.counts {
		sum += n
	}
	if sum != 1000 {
		t.Errorf("the parts of an event add up to %d", sum)
	}
}
