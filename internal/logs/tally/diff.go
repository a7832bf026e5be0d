package tally

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// A Pair is one key of two profiles; Before or After is nil if only one profile
// has the key.
type Pair struct {
	Key           string
	Before, After *iikanji.Row
}

// Delta is the change of the total time.
func (p Pair) Delta() time.Duration {
	var d time.Duration
	if p.After != nil {
		d += p.After.Total
	}
	if p.Before != nil {
		d -= p.Before.Total
	}
	return d
}

func (p Pair) countDelta() (n int64) {
	if p.After != nil {
		n += p.After.Count
	}
	if p.Before != nil {
		n -= p.Before.Count
	}
	return n
}

// Pairs joins the rows of two profiles of the same source by key (the digest,
// for statements), the largest change of total time first, then of count.
func Pairs(before, after *iikanji.Profile) []Pair {
	var pairs []Pair
	at := map[string]int{}
	for i := range before.Rows {
		r := &before.Rows[i]
		at[rowKey(r)] = len(pairs)
		pairs = append(pairs, Pair{Key: r.Key, Before: r})
	}
	for i := range after.Rows {
		r := &after.Rows[i]
		if k, ok := at[rowKey(r)]; ok {
			pairs[k].After = r
		} else {
			pairs = append(pairs, Pair{Key: r.Key, After: r})
		}
	}
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Delta().Abs(), a.Delta().Abs()),
			cmp.Compare(max(b.countDelta(), -b.countDelta()), max(a.countDelta(), -a.countDelta())), strings.Compare(a.Key, b.Key))
	})
	return pairs
}
