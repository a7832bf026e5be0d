package tally

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// TestMergeStatements: transactions, repetition, spreads and names add up,
// whichever profile comes first.
func TestMergeStatements(t *testing.T) {
	part := func(n int64) *iikanji.Profile {
		var times, lock Sketch
		times.AddN(time.Millisecond*time.Duration(n), n)
		lock.AddN(time.Duration(n), n)
		r := iikanji.Row{Key: "select ?", Count: n, Query: &iikanji.SQLRow{Digest: "d", Prepares: n, PrepareTime: time.Duration(n),
			Users: []iikanji.Named{{Name: "u", Count: n}}, Spreads: []iikanji.Spread{SpreadOf("lock", &lock)}}}
		r.Query.Decades[3] = n
		times.Fill(&r)
		return &iikanji.Profile{Source: iikanji.Slow, Rows: []iikanji.Row{r},
			Transactions: []iikanji.Transaction{{Digest: "t", Count: n, Commit: time.Duration(n), MaxCommit: time.Duration(n)}},
			Repeats:      []iikanji.Repeat{{Digest: "d", Runs: n, Longest: n, Same: n}}}
	}
	for _, order := range [][2]int64{{3, 5}, {5, 3}} {
		p, err := Merge(part(order[0]), part(order[1]))
		if err != nil {
			t.Fatal(err)
		}
		q := p.Rows[0].Query
		if q.Prepares != 8 || q.PrepareTime != 8 || q.Decades[3] != 8 || q.Users[0].Count != 8 {
			t.Errorf("%+v", q)
		}
		if s := q.Spreads[0]; s.Sum != 9+25 || s.Min != 3 || s.Max != 5 || s.P50 != 5 {
			t.Errorf("%+v", s)
		}
		if x := p.Transactions[0]; x.Count != 8 || x.Commit != 8 || x.MaxCommit != 5 {
			t.Errorf("%+v", x)
		}
		if r := p.Repeats[0]; r.Runs != 8 || r.Longest != 5 || r.Same != 8 {
			t.Errorf("%+v", r)
		}
	}
}

// TestMergeKeepsInputs: merging changes none of the profiles merged.
func TestMergeKeepsInputs(t *testing.T) {
	a := &iikanji.Profile{Source: iikanji.Slow, Transactions: []iikanji.Transaction{{Digest: "t", Count: 1}}}
	if _, err := Merge(a, a); err != nil || a.Transactions[0].Count != 1 {
		t.Errorf("%v %+v", err, a.Transactions)
	}
}
