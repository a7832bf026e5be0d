package index

import (
	"cmp"
	"slices"

	"github.com/pingcap/tidb/pkg/parser"
)

// Unread lists the statements of a workload that cannot be parsed, the most
// expensive first. There is no advice for them, and indexes that only they use
// seem unused.
func (s *Schema) Unread(w Workload) []Unread {
	p := parser.New()
	var out []Unread
	for _, q := range w.Queries {
		if _, err := s.Parse(p, q.SQL, q.DB); err != nil {
			out = append(out, Unread{q, err})
		}
	}
	slices.SortStableFunc(out, func(a, b Unread) int { return cmp.Compare(b.Query.Seconds, a.Query.Seconds) })
	return out
}
