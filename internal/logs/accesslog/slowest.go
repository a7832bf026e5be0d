package accesslog

import (
	"cmp"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// slowest are the slowest requests of a log, at most limit, the slowest first;
// of equally slow ones the earliest.
type slowest struct {
	limit int
	all   []sight
}

// add offers a line.
func (s *slowest) add(rec *record, at place) {
	if s.limit == 0 || rec.took < 0 {
		return
	}
	if n := len(s.all); n == s.limit && (rec.took < s.all[n-1].took || rec.took == s.all[n-1].took && !at.before(s.all[n-1].place)) {
		return
	}
	one := sight{took: noTime}
	one.offer(rec, at)
	s.insert(one)
}

func (s *slowest) insert(one sight) {
	i, _ := slices.BinarySearchFunc(s.all, one, func(a, b sight) int { return cmp.Or(cmp.Compare(b.took, a.took), a.place.compare(b.place)) })
	s.all = slices.Insert(s.all, i, one)
	s.all = s.all[:min(len(s.all), s.limit)]
}

// merge adds the requests of another worker.
func (s *slowest) merge(o *slowest) {
	for _, one := range o.all {
		s.insert(one)
	}
}

// sightings resolves the places.
func (s *slowest) sightings(line func(place) (string, int64), text func(string) string) (all []iikanji.Sighting) {
	for _, one := range s.all {
		out := iikanji.Sighting{Text: text(string(one.text)), Took: time.Duration(one.took)}
		out.File, out.Line = line(one.place)
		all = append(all, out)
	}
	return all
}
