package accesslog

import (
	"math"
	"slices"
)

// outliers are the names that are routes of their own although their siblings
// are values: their requests divide differently, or their times do.
func (s *siblings) outliers(ref reference) map[*branch]bool {
	out := map[*branch]bool{}
	for _, v := range s.names {
		if v.count >= minOutlier && (v.like < 0.35 || s.otherMethod(v)) {
			out[v.b] = true
		}
		if !s.belowCollection() && lexical(string(v.b.shape.text)) <= knownWords && !s.includes(v.b) {
			out[v.b] = true
		}
	}
	rel := s.main()
	s.distant(out, rel, timeMoments, ref.times)
	s.distant(out, rel, sizeMoments, ref.sizes)
	s.elsewhere(out, rel)
	return out
}

// otherMethod reports whether at least a twentieth of a name's own requests are
// of a method that hardly any other name has.
func (s *siblings) otherMethod(v name) bool {
	for k, n := range v.shares {
		if k.kind != nKinds || n < 3 || n*20 < float64(v.count) {
			continue
		}
		others := 0
		for _, o := range s.names {
			if o.shares[k] > 0 {
				others++
			}
		}
		if 10*(others-1) < len(s.names) {
			return true
		}
	}
	return false
}

// distant adds the names whose times or sizes are far from those of the others.
func (s *siblings) distant(out map[*branch]bool, rel relative, of measure, spread float64) {
	center, ok := s.center(rel, of)
	if !ok || spread == 0 {
		return
	}
	for _, v := range s.names {
		m := v.b.momentsOf(rel, of)
		if m.n < 15 {
			continue
		}
		d, se := math.Abs(m.mean()-center), math.Sqrt(m.variance()/float64(m.n))
		if d > 1 && d > 5*se {
			out[v.b] = true
		}
	}
}

// elsewhere adds the names that are reached from other pages than their siblings.
func (s *siblings) elsewhere(out map[*branch]bool, rel relative) {
	mean, like := s.pages(rel)
	if len(like) < 8 || mean < fromAlike {
		return
	}
	for _, v := range s.names {
		if x, ok := like[v.b]; ok && x < fromOther && v.b.referersOf(rel).total() >= minOutlier {
			out[v.b] = true
		}
	}
}

// includes reports whether a reserved word is a value too: it has several
// routes below it, and its requests divide among them as those of the names.
func (s *siblings) includes(c *branch) bool {
	shares := c.shares(s.recurrent)
	if s.belowCollection() && weakReserved[string(c.shape.text)] && cosine(shares, s.bulk) > 0.85 {
		return true
	}
	return c.user || len(shares) > 1 && len(c.children) > 0 && cosine(shares, s.bulk) > 0.85
}

// center is the median of the names' means; ok is false if they vary too much
// for outliers.
func (s *siblings) center(rel relative, of measure) (center float64, ok bool) {
	var means []float64
	for _, v := range s.names {
		if m := v.b.momentsOf(rel, of); m.n >= 3 {
			means = append(means, m.mean())
		}
	}
	if len(means) < 8 {
		return 0, false
	}
	slices.Sort(means)
	n := len(means)
	return means[n/2], means[n*3/4]-means[n/4] < 0.6
}
