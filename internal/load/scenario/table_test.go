package scenario

import (
	"slices"
	"testing"
)

func TestScore(t *testing.T) {
	table := Table{Base: 1000, Events: []EventRule{{Name: "info", Points: 20, Per: 50}, {Name: "graph", Points: 150}, {Name: "bad", Points: -2, Per: 1}}, PerError: 1, PerTimeouts: 10}
	f := func(t1 Table, counts []int64, errors, timeouts int64, raw, deducted float64, by ...float64) {
		t.Helper()
		s := t1.Score(counts, errors, timeouts)
		if s.Raw != raw || s.Deducted != deducted || s.Final != raw-deducted || !slices.Equal(s.ByEvent, by) {
			t.Errorf("%v, %d errors, %d timeouts: %+v, want raw %v deducted %v by event %v", counts, errors, timeouts, s, raw, deducted, by)
		}
	}
	f(table, []int64{0, 0, 0}, 0, 0, 1000, 0, 0, 0, 0)
	f(table, []int64{49, 0, 0}, 0, 0, 1000, 0, 0, 0, 0)
	f(table, []int64{50, 1, 0}, 0, 0, 1170, 0, 20, 150, 0)
	f(table, []int64{149, 2, 3}, 0, 0, 1334, 0, 40, 300, -6)
	f(table, []int64{0, 0, 0}, 3, 9, 1000, 3, 0, 0, 0)
	f(table, []int64{0, 0, 0}, 3, 10, 1000, 4, 0, 0, 0)
	f(table, []int64{0, 0, 0}, 1001, 29, 1000, 1003, 0, 0, 0)
	table.PerTimeouts, table.TimeoutPoints = 100, 50
	f(table, []int64{0, 0, 0}, 0, 99, 1000, 0, 0, 0, 0)
	f(table, []int64{0, 0, 0}, 0, 250, 1000, 100, 0, 0, 0)
	table.PerTimeouts = 0
	f(table, []int64{0, 0, 0}, 0, 1e6, 1000, 0, 0, 0, 0)
	f(Table{}, nil, 5, 5, 0, 0)
	percent := Table{Events: []EventRule{{Name: "read", Points: 1}}, PercentPerError: 1}
	f(percent, []int64{250}, 0, 0, 250, 0, 250)
	f(percent, []int64{250}, 11, 5, 250, 27, 250)
	f(percent, []int64{250}, 100, 0, 250, 250, 250)
	f(percent, []int64{250}, 101, 0, 250, 250, 250)
}
