package isuumo

import (
	"testing"
	"testing/fstest"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

func TestFiles(t *testing.T) {
	a, ok := arena.Find("isuumo")
	if !ok {
		t.Fatal("the arena is not registered")
	}
	if err := fstest.TestFS(a.Files, "go/main.go", "go/go.mod", "go/go.sum", "mysql/db/0_Schema.sql", "mysql/db/init.sh",
		chairConditionsFile, estateConditionsFile, a.Service("nginx").Configs[0].Template); err != nil {
		t.Error(err)
	}
}

// TestConditions compares the search conditions with the table of the rules.
func TestConditions(t *testing.T) {
	chair, estate := chairConditions(), estateConditions()
	for _, c := range []struct {
		name string
		cond RangeCondition
		ends []int64
	}{
		{"height", chair.Height, []int64{80, 110, 150}}, {"width", chair.Width, []int64{80, 110, 150}},
		{"depth", chair.Depth, []int64{80, 110, 150}}, {"price", chair.Price, []int64{3000, 6000, 9000, 12000, 15000}},
		{"door height", estate.DoorHeight, []int64{80, 110, 150}}, {"door width", estate.DoorWidth, []int64{80, 110, 150}},
		{"rent", estate.Rent, []int64{50000, 100000, 150000}},
	} {
		if len(c.cond.Ranges) != len(c.ends)+1 {
			t.Errorf("%s has %d ranges, want %d", c.name, len(c.cond.Ranges), len(c.ends)+1)
			continue
		}
		for i, end := range c.ends {
			low, high := c.cond.Ranges[i], c.cond.Ranges[i+1]
			if low.ID != int64(i) || low.Max != end || high.Min != end || low.Has(end) || !low.Has(end-1) || !high.Has(end) {
				t.Errorf("%s: ranges %+v and %+v do not meet at %d", c.name, low, high, end)
			}
		}
		if first, last := c.cond.Ranges[0], c.cond.Ranges[len(c.ends)]; first.Min != -1 || last.Max != -1 {
			t.Errorf("%s is bounded: %+v to %+v", c.name, first, last)
		}
	}
	for _, c := range []struct {
		name string
		list []string
		want int
	}{{"color", chair.Color.List, 12}, {"kind", chair.Kind.List, 4}, {"chair feature", chair.Feature.List, 50}, {"estate feature", estate.Feature.List, 50}} {
		seen := map[string]bool{}
		for _, label := range c.list {
			seen[label] = true
		}
		if len(seen) != c.want || len(c.list) != c.want || seen[""] {
			t.Errorf("%d different labels of %s in %d, want %d", len(seen), c.name, len(c.list), c.want)
		}
	}
}
