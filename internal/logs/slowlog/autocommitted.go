package slowlog

import (
	"cmp"
	"maps"
	"slices"
)

const (
	// minRests is the number of different shapes that a write must precede to be
	// taken for one that commits itself.
	minRests = 3
	// restRatio is how much more often each of them must occur without the write.
	restRatio = 2
	// restShare is the part of the write's shapes for which that must hold.
	restShare = 0.9
)

// separate removes writes that commit themselves from shapes whose BEGIN is not in
// the log. Such a write comes right before transactions to which it does not
// belong: its thread served another request then. It is recognised because it
// precedes many different shapes, each of which is more frequent without it. A
// write that belongs to a transaction always precedes the same statements.
func (s *shapes) separate() {
	type leader struct {
		count, separable int64
		rests            int
	}
	leaders := map[*digest]*leader{}
	for _, sh := range s.byKey {
		if !sh.implied || len(sh.digests) < 2 {
			continue
		}
		l := leaders[sh.digests[0]]
		if l == nil {
			l = new(leader)
			leaders[sh.digests[0]] = l
		}
		l.count += sh.count
		if rest := s.restOf(sh); rest != nil {
			l.separable += sh.count
			l.rests++
		}
	}
	var longest []*shape
	for sh := range maps.Values(s.byKey) {
		if sh.implied && len(sh.digests) > 1 && s.restOf(sh) != nil {
			if l := leaders[sh.digests[0]]; l.rests >= minRests && float64(l.separable) >= restShare*float64(l.count) {
				longest = append(longest, sh)
			}
		}
	}
	slices.SortFunc(longest, func(a, b *shape) int {
		return cmp.Or(cmp.Compare(len(b.digests), len(a.digests)), cmp.Compare(a.key, b.key))
	})
	for _, sh := range longest {
		s.mergeRest(sh, s.byKey[keyOf(sh.digests[1:])])
	}
}

// restOf returns the shape without the first statement of sh if it is more
// frequent, nil otherwise.
func (s *shapes) restOf(sh *shape) *shape {
	rest := s.byKey[keyOf(sh.digests[1:])]
	if rest == nil || !rest.implied || rest.count < restRatio*sh.count {
		return nil
	}
	return rest
}

// mergeRest adds the transactions of sh to rest, without their first statement.
func (s *shapes) mergeRest(sh, rest *shape) {
	s.separated += sh.count
	rest.count += sh.count
	rest.rollbacks += sh.rollbacks
	rest.costs.add(sh.costs)
	rest.costs.subtract(sh.lead)
	rest.commit += sh.commit
	rest.maxCommit = max(rest.maxCommit, sh.maxCommit)
	delete(s.byKey, sh.key)
}
