package accesslog

import (
	"bytes"
	"math"

	"github.com/iikanji/iikanji/internal/logs/tally"
)

// refererGroups is into how many groups the pages are divided from which a route's
// requests come. Two routes with different pages rarely have them in the same groups.
const refererGroups = 16

// referers counts the requests of a row by the group of the page that they come from.
type referers [refererGroups]uint32

// plus adds other counts. Both may be nil.
func (r *referers) plus(o *referers) *referers {
	switch {
	case o == nil:
		return r
	case r == nil:
		r = new(referers)
	}
	for i, n := range o {
		r[i] += n
	}
	return r
}

// total is the number of requests with a referer.
func (r *referers) total() (n float64) {
	if r != nil {
		for _, x := range r {
			n += float64(x)
		}
	}
	return n
}

// shares are the parts of the requests by group, so that every name weighs the same.
func (r *referers) shares() (v [refererGroups]float64) {
	if n := r.total(); n > 0 {
		for i, x := range r {
			v[i] = float64(x) / n
		}
	}
	return v
}

// addReferer counts the page that a request comes from.
func (r *row) addReferer(rec *record) {
	if len(rec.referer) < 2 || len(rec.uri) == 0 { // "-"
		return
	}
	if r.from == nil {
		r.from = new(referers)
	}
	r.from[groupOf(rec.referer, rec.uri)]++
}

// groupOf is the group of the page of a request: the number of segments that the two
// paths begin with alike, and what follows in the referer's. So "/alice/posts" from
// "/alice" and "/bob/posts" from "/bob" are in one group. The names of hosts do not
// count: a log rarely has that of its own site.
func groupOf(referer, uri []byte) int {
	from, to := pathOf(withoutHost(referer)), pathOf(withoutHost(uri))
	depth := uint64(0)
	for {
		a, restA, okA := nextSegment(from)
		b, restB, okB := nextSegment(to)
		if !okA || !okB || !bytes.Equal(a, b) {
			break
		}
		from, to, depth = restA, restB, depth+1
	}
	h := depth
	for seg, rest, ok := nextSegment(from); ok; seg, rest, ok = nextSegment(rest) {
		s := shapeOf(seg, maskOf(seg))
		h = tally.Mix(h+edgeK, tally.Hash(s.text, uint64(s.kind)))
	}
	return int(tally.Mix(h, edgeK) % refererGroups)
}

// nextSegment cuts the first segment from the rest of a path that begins with a slash.
func nextSegment(path []byte) (seg, rest []byte, ok bool) {
	if len(path) < 2 || path[0] != '/' {
		return nil, nil, false
	}
	if i := bytes.IndexByte(path[1:], '/'); i >= 0 {
		return path[1 : 1+i], path[1+i:], true
	}
	return path[1:], nil, true
}

// referersOf are the pages from which requests come to a name's relative route.
func (b *branch) referersOf(rel relative) (all *referers) {
	for _, w := range b.rowsOf(rel) {
		if w != nil {
			all = all.plus(w.from)
		}
	}
	return all
}

const (
	minReferers = 4   // requests with a referer that a name needs
	fromAlike   = 0.8 // cosine at which the pages of two names are alike
	fromOther   = 0.3 // cosine below which they are not
)

// A linkage compares the pages from which requests come to the names at a position.
type linkage struct {
	bulk  [refererGroups]float64 // of all names; each weighs the same
	mean  float64                // mean cosine of a name to all names
	like  map[*branch]float64    // of each name with enough requests
	heavy []float64              // of the names that are routes of the reference
	few   bool                   // the names have too few requests to be unlike
}

// pages compares the names by a relative route.
func (s *siblings) pages(rel relative) (l linkage) {
	vectors := map[*branch][refererGroups]float64{}
	var requests float64
	for _, v := range s.names {
		r := v.b.referersOf(rel)
		if r.total() < minReferers {
			continue
		}
		requests += r.total()
		x := r.shares()
		vectors[v.b] = x
		for i := range x {
			l.bulk[i] += math.Round(1e6 * x[i]) // whole numbers: any order gives the same sum
		}
	}
	l.like = map[*branch]float64{}
	for _, v := range s.names {
		if x, ok := vectors[v.b]; ok {
			l.like[v.b] = direction(x, l.bulk)
			l.mean += l.like[v.b]
			if v.b.referersOf(rel).total() >= minGroup {
				l.heavy = append(l.heavy, l.like[v.b])
			}
		}
	}
	l.mean /= max(float64(len(l.like)), 1)
	l.few = requests < refererGroups*float64(len(l.like))
	return l
}

// others is the mean cosine of the log's other routes to the names, and their number.
func (l *linkage) others(ref reference) (mean float64, n int) {
	sum := 0.0
	for _, x := range ref.from {
		sum += math.Round(1e6 * direction(x, l.bulk)) // whole numbers: any order gives the same sum
	}
	for _, x := range l.heavy {
		sum -= math.Round(1e6 * x)
	}
	n = len(ref.from) - len(l.heavy)
	return sum / 1e6 / float64(max(n, 1)), n
}

// direction is the cosine of two vectors.
func direction(a, b [refererGroups]float64) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		dot, aa, bb = dot+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// linked scores the pages with the links: the members of a collection are reached from
// the same pages, words from different ones. On a site whose routes are all reached
// from the same pages (by a menu) likeness shows nothing.
func (s *siblings) linked(rel relative, ref reference) evidence {
	l := s.pages(rel)
	if len(l.like) < 5 || 2*len(l.like) < len(s.names) {
		return 0
	}
	others, n := l.others(ref)
	switch {
	case l.mean >= fromAlike && n >= minGroups && others < fromAlike-0.3:
		return 2.5
	case l.mean < 0.5 && !l.few: // weak: the pages of products may be those of their categories
		return -0.5
	}
	return 0
}
