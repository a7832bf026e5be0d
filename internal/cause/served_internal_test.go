package cause

import "testing"

// TestAfterIsNoMore: the rows after an index, of one example's plan, are never more than
// the mean of the rows that the server counted before.
func TestAfterIsNoMore(t *testing.T) {
	for _, c := range []struct{ examined, planned, want float64 }{{500, 80, 50}, {500, 20, 20}, {0, 80, 80}} {
		s := Served{RowsBefore: 100, RowsAfter: c.planned, Query: Query{Examined: c.examined, Count: 10}}
		if got := s.after(); got != c.want || got > s.before() {
			t.Errorf("%+v: %v rows after, %v before, want %v", c, got, s.before(), c.want)
		}
	}
}
