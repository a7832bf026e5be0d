package sites

import (
	"cmp"
	"slices"
)

// A Score compares learned routes with true ones. A learned route is right if
// it has exactly the requests of one true route, whatever its name.
type Score struct {
	Requests, Exact int // requests of routes; those on a right route
	Routes, Learned int // true routes; learned ones
	Right           int // learned routes that are right
	Wrong           []Wrong
}

// A Wrong is a learned route that is not exactly a true one.
type Wrong struct {
	Learned  string
	Routes   []string // true routes of its requests
	Requests int
}

// Share is the share of requests on exactly the right route.
func (s Score) Share() float64 { return ratio(s.Exact, s.Requests) }

// Precision is the share of learned routes that are right.
func (s Score) Precision() float64 { return ratio(s.Right, s.Learned) }

// Recall is the share of true routes that were learned.
func (s Score) Recall() float64 { return ratio(s.Right, s.Routes) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// Compare scores the learned route of each request. Requests of scanners count
// neither for nor against a route.
func Compare(all []Request, learned []string) Score {
	type pair struct{ learned, route string }
	both := map[pair]int{}
	byLearned, byRoute := map[string]int{}, map[string]int{}
	var s Score
	for i, q := range all {
		if q.Route == "" {
			continue
		}
		s.Requests++
		both[pair{learned[i], q.Route}]++
		byLearned[learned[i]]++
		byRoute[q.Route]++
	}
	s.Routes, s.Learned = len(byRoute), len(byLearned)
	for p, n := range both {
		if n == byLearned[p.learned] && n == byRoute[p.route] {
			s.Right++
			s.Exact += n
			continue
		}
		i := slices.IndexFunc(s.Wrong, func(w Wrong) bool { return w.Learned == p.learned })
		if i < 0 {
			i = len(s.Wrong)
			s.Wrong = append(s.Wrong, Wrong{Learned: p.learned, Requests: byLearned[p.learned]})
		}
		s.Wrong[i].Routes = append(s.Wrong[i].Routes, p.route)
	}
	for _, w := range s.Wrong {
		slices.Sort(w.Routes)
	}
	slices.SortFunc(s.Wrong, func(a, b Wrong) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Learned, b.Learned))
	})
	return s
}
