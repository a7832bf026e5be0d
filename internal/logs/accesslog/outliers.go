package accesslog

import (
	"bytes"
	"math"
	"slices"
)

// outliers are the names that are routes of their own although their siblings
// are values: their requests divide differently, or their times do.
func (s *siblings) outliers(ref reference, crowd *crowd) map[*branch]bool {
	out := map[*branch]bool{}
	for _, v := range s.names {
		if v.count >= minOutlier && (v.like < 0.35 || s.otherMethod(v)) {
			out[v.b] = true
		}
		if lexical(string(v.b.shape.text)) <= knownWords && crowd.isRoute(v.b, v.count) {
			out[v.b] = true
		}
		if s.concentrated(v) {
			out[v.b] = true
		}
	}
	rel := s.main()
	s.distant(out, rel, timeMoments, ref.times)
	s.distant(out, rel, sizeMoments, ref.sizes)
	s.elsewhere(out, rel)
	return out
}

// slugs reports whether most names are slugs of several words: then one whose words are
// all common in routes is a slug, too.
func (s *siblings) slugs() bool {
	n := 0
	for _, v := range s.names {
		if isSlug(v.b.shape.text) {
			n++
		}
	}
	return 2*n > len(s.names)
}

// isSlug reports whether a name is several words in small letters, joined by dashes.
func isSlug(text []byte) bool {
	return bytes.IndexByte(text, '-') > 0 && maskOf(text)&^(cLower|cDigit|cDash) == 0
}

// concentrated reports whether all requests below a name are for one path that no
// other name has, while the requests of the others divide among many: "/status/live"
// beside folders of files.
func (s *siblings) concentrated(v name) bool {
	if v.count < minOutlier || len(v.b.children) != 1 || len(v.b.rows) > 0 {
		return false
	}
	for _, c := range v.b.children {
		if c.shape.kind != literal || s.recurrent[string(c.shape.text)] > 0 {
			return false
		}
	}
	if v.b.paths() > 1 {
		return false
	}
	busy, many := 0, 0
	for _, o := range s.names {
		if o.b != v.b && 2*o.count >= v.count {
			busy++
			if 3*int64(o.b.paths()) >= o.count || o.b.paths() >= 5 {
				many++
			}
		}
	}
	return busy >= 3 && 5*many >= 4*busy
}

// paths is the number of different paths below a branch; a file tree counts as many.
func (b *branch) paths() (n int) {
	if b.shape.kind == rest {
		return 100
	}
	if len(b.rows) > 0 {
		n++
	}
	for _, c := range b.children {
		n += c.paths()
	}
	return n
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
	l := s.pages(rel)
	if len(l.like) < 8 || l.mean < fromAlike {
		return
	}
	for _, v := range s.names {
		if x, ok := l.like[v.b]; ok && x < fromOther && v.b.referersOf(rel).total() >= minOutlier {
			out[v.b] = true
		}
	}
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
