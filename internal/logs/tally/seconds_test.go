package tally

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestSeconds counts times in any order, over two halves that are merged, and
// compares the count of each second with a plain map.
func TestSeconds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var a, b, none Seconds
	want := map[int64]int32{}
	const start = 1_700_000_000
	for i := range 5000 {
		second := start + r.Int64N(300)
		want[second]++
		half := &a
		if i%2 == 0 {
			half = &b
		}
		half.Add(second*1e9 + r.Int64N(1e9))
	}
	before := append([]int32(nil), b.counts...)
	a.Merge(&b)
	a.Merge(&none)
	got := a.Counts()
	if got == nil || got.From != start || len(got.Counts) != 300 {
		t.Fatalf("%+v", got)
	}
	for i, n := range got.Counts {
		if n != want[start+int64(i)] {
			t.Errorf("second %d: %d, want %d", i, n, want[start+int64(i)])
		}
	}
	for i, n := range b.counts {
		if n != before[i] {
			t.Fatal("merging changed what was merged")
		}
	}
	if none.Counts() != nil {
		t.Error("a series of nothing")
	}
}

// TestMergeSeconds adds the counts of saved profiles, and forgets them when
// one of the profiles has none.
func TestMergeSeconds(t *testing.T) {
	part := func(s *iikanji.PerSecond) *iikanji.Profile {
		return &iikanji.Profile{Source: iikanji.Access, Rows: []iikanji.Row{{Key: "GET /", Count: 3, PerSecond: s}}}
	}
	a, b := part(&iikanji.PerSecond{From: 100, Counts: []int32{1, 2}}), part(&iikanji.PerSecond{From: 101, Counts: []int32{2, 0, 1}})
	both, err := Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got := both.Rows[0].PerSecond; got == nil || got.From != 100 || !slices.Equal(got.Counts, []int32{1, 4, 0, 1}) {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(a.Rows[0].PerSecond.Counts, []int32{1, 2}) {
		t.Error("merging changed a part")
	}
	some, err := Merge(a, part(nil))
	if err != nil || some.Rows[0].PerSecond != nil {
		t.Errorf("%+v, %v", some.Rows[0].PerSecond, err)
	}
}

// TestSecondsTooLong keeps nothing of a log that spans days, rather than a part.
func TestSecondsTooLong(t *testing.T) {
	var s, o Seconds
	s.Add(1_700_000_000e9)
	s.Add((1_700_000_000 + maxSeconds) * 1e9)
	if s.Counts() != nil {
		t.Error("more than the bound is kept")
	}
	s.Add(1_700_000_000e9)
	o.Add(1_700_000_000e9)
	o.Merge(&s)
	if s.Counts() != nil || o.Counts() != nil {
		t.Error("a series that is too long came back")
	}
}
