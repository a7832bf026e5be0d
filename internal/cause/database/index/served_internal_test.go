package index

import "testing"

// TestAfterIsNoMore: the rows after an index, of one example's plan, are never more than
// the mean of the rows that the server counted before.
func TestAfterIsNoMore(t *testing.T) {
	for _, c := range []struct{ examined, planned, want float64 }{{500, 80, 50}, {500, 20, 20}, {0, 80, 80}} {
		s := Served{RowsBefore: 100, RowsAfter: c.planned, Query: Query{Examined: c.examined, Count: 10}}
		if got := s.After(); got != c.want || got > s.Before() {
			t.Errorf("%+v: %v rows after, %v before, want %v", c, got, s.Before(), c.want)
		}
	}
}

// TestCachedExecutions: executions that the query cache answered examined no row.
// The other ones are what an index saves, however many were cached.
func TestCachedExecutions(t *testing.T) {
	scan := func(count, cached float64) Served {
		return Served{Query: Query{Count: count, Cached: cached, Examined: (count - cached) * 500, Seconds: 1}, CostBefore: 1100, CostAfter: 110, Share: 1}
	}
	plain, cached := scan(40, 0), scan(1000, 960)
	if plain.Before() != 500 || cached.Before() != 500 || plain.Work() != cached.Work() || plain.Work() <= 0 {
		t.Errorf("40 scans: %v rows, %v; 40 scans and 960 answers of the cache: %v rows, %v", plain.Before(), plain.Work(), cached.Before(), cached.Work())
	}
	if all := scan(10, 10); all.Query.Reads() != 1 {
		t.Errorf("all cached: %v reads", all.Query.Reads())
	}
}
