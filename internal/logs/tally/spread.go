package tally

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// SpreadOf converts a sketch of any whole quantity into a Spread. A value of n
// is stored as a duration of n nanoseconds.
func SpreadOf(name string, s *Sketch) iikanji.Spread {
	b, _ := s.MarshalBinary() // never fails
	return iikanji.Spread{Name: name, Sum: int64(s.Sum()), Min: int64(s.Min()), Max: int64(s.Max()), Mean: int64(s.Mean()),
		P50: int64(s.Quantile(0.5)), P95: int64(s.Quantile(0.95)), Stddev: int64(s.Stddev()), Sketch: b}
}

// mergeSpreads adds the spreads of o to those of the same name in q. A spread
// whose sketch is missing or damaged is dropped, because a partial sum would be
// wrong.
func mergeSpreads(q, o []iikanji.Spread) []iikanji.Spread {
	var out []iikanji.Spread
	for _, a := range q {
		var x, y Sketch
		i := slices.IndexFunc(o, func(b iikanji.Spread) bool { return b.Name == a.Name })
		if i < 0 || x.UnmarshalBinary(a.Sketch) != nil || y.UnmarshalBinary(o[i].Sketch) != nil {
			continue
		}
		x.Merge(&y)
		out = append(out, SpreadOf(a.Name, &x))
	}
	return out
}

// mergeNamed adds counts by name, the most frequent first.
func mergeNamed(a, b []iikanji.Named) []iikanji.Named {
	out := slices.Clone(a)
	for _, n := range b {
		if i := slices.IndexFunc(out, func(o iikanji.Named) bool { return o.Name == n.Name }); i >= 0 {
			out[i].Count += n.Count
		} else {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b iikanji.Named) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	return out
}

// mergeByDigest appends to a copy of a what b has besides, and adds to the others what b has of
// the same digest.
func mergeByDigest[T any](a, b []T, digest func(*T) string, add func(o, more *T)) []T {
	out := slices.Clone(a)
	at := make(map[string]int, len(a)) // by digest
	for i := range out {
		at[digest(&out[i])] = i
	}
	for i := range b {
		if k, known := at[digest(&b[i])]; known {
			add(&out[k], &b[i])
			continue
		}
		at[digest(&b[i])] = len(out)
		out = append(out, b[i])
	}
	return out
}

// mergeTransactions adds transactions of the same shape.
func mergeTransactions(a, b []iikanji.Transaction) []iikanji.Transaction {
	out := mergeByDigest(a, b, func(t *iikanji.Transaction) string { return t.Digest }, func(o, t *iikanji.Transaction) {
		o.Count, o.Rollbacks, o.Statements = o.Count+t.Count, o.Rollbacks+t.Rollbacks, o.Statements+t.Statements
		o.Total, o.Commit, o.Lock = o.Total+t.Total, o.Commit+t.Commit, o.Lock+t.Lock
		o.MaxCommit = max(o.MaxCommit, t.MaxCommit)
		if t.Example.Took > o.Example.Took || t.Example.Took == o.Example.Took && lessSighting(t.Example, o.Example) {
			o.Example = t.Example
		}
	})
	slices.SortFunc(out, func(a, b iikanji.Transaction) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count), strings.Compare(a.Digest, b.Digest))
	})
	return out
}

// mergeRepeats adds repetition of the same digest.
func mergeRepeats(a, b []iikanji.Repeat) []iikanji.Repeat {
	out := mergeByDigest(a, b, func(r *iikanji.Repeat) string { return r.Digest }, func(o, r *iikanji.Repeat) {
		o.Runs, o.Count, o.Time = o.Runs+r.Runs, o.Count+r.Count, o.Time+r.Time
		o.Same, o.SameTime = o.Same+r.Same, o.SameTime+r.SameTime
		o.Longest = max(o.Longest, r.Longest)
	})
	slices.SortFunc(out, func(a, b iikanji.Repeat) int {
		return cmp.Or(cmp.Compare(max(b.Time, b.SameTime), max(a.Time, a.SameTime)), cmp.Compare(b.Count+b.Same, a.Count+a.Same), strings.Compare(a.Digest, b.Digest))
	})
	return out
}
