package accesslog

import "math"

// Names with the same routes of several segments below them are values: sections with an
// archive by date, releases with the same files. They are counted when the positions below
// were learned, in the second pass.

const (
	maxDeepNames  = 200 // names that are examined
	maxDeepRoutes = 60  // routes below a name that are examined
	minDeepNames  = 3   // names that must have a route below them in common
)

// deepRoutes are the routes below a branch that tell something: of three segments or more, or
// of two with a word that is not common. ok is false if there are too many.
func (b *branch) deepRoutes() (all map[string]bool, ok bool) {
	all = map[string]bool{}
	var segs []shape
	var visit func(b *branch)
	visit = func(b *branch) {
		if len(all) > maxDeepRoutes {
			return
		}
		if len(b.rows) > 0 && isTelling(segs) {
			all[template(segs)] = true
		}
		for _, c := range b.sorted() {
			segs = append(segs, c.shape)
			visit(c)
			segs = segs[:len(segs)-1]
		}
	}
	visit(b)
	return all, len(all) <= maxDeepRoutes
}

// isTelling reports whether a route below a name would hardly be below another by chance.
func isTelling(segs []shape) bool {
	special := 0
	for _, s := range segs {
		if s.kind == literal && len(s.text) > 0 && !isRouteWord(string(s.text)) && !genericBelow[string(s.text)] {
			special++
		}
	}
	return len(segs) >= 3 && (special > 0 || segs[2].kind != literal) || special > 0 && len(segs) == 2
}

// common is the number of telling routes that most of the names with routes below them have,
// and the number of those names.
func (s *siblings) common() (routes, names int) {
	if len(s.names) > maxDeepNames {
		return 0, 0
	}
	counts := map[string]int{}
	for _, v := range s.names {
		all, ok := v.b.deepRoutes()
		if !ok {
			return 0, 0
		}
		if len(all) > 0 {
			names++
		}
		for r := range all {
			counts[r]++
		}
	}
	if names < minDeepNames || 2*names < len(s.names) {
		return 0, names
	}
	for _, n := range counts {
		if 5*n >= 4*names {
			routes++
		}
	}
	return routes, names
}

// deep scores the routes below that most names have in common.
func (s *siblings) deep() evidence {
	switch n, _ := s.common(); {
	case n >= 3:
		return 4
	case n > 0:
		return 2
	}
	return 0
}

// sameBelow reports whether all names have several routes below them in common: then few
// names are enough.
func (s *siblings) sameBelow() bool {
	n, names := s.common()
	return n >= 2 && names == len(s.names) && s.alike == len(s.names) && !s.collections() && !s.differ()
}

// differ reports whether names differ in time or size by a route that they have in common.
func (s *siblings) differ() bool {
	for rel := range s.bulk {
		if rel.kind == literal && rel.text == "" {
			continue
		}
		if s.differBy(rel, timeMoments) || s.differBy(rel, sizeMoments) {
			return true
		}
	}
	return false
}

// differBy reports whether two names with enough requests differ in a quantity by more than
// their noise.
func (s *siblings) differBy(rel relative, of measure) bool {
	var least, most moments
	for _, v := range s.names {
		m := v.b.momentsOf(rel, of)
		if m.n < 5 {
			continue
		}
		if least.n == 0 || m.mean() < least.mean() {
			least = m
		}
		if most.n == 0 || m.mean() > most.mean() {
			most = m
		}
	}
	if least.n == 0 {
		return false
	}
	noise := math.Sqrt(least.variance()/float64(least.n) + most.variance()/float64(most.n))
	d := most.mean() - least.mean()
	return d > 0.5 && d > 4*noise
}
