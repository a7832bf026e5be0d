package accesslog

import (
	"bytes"
	"cmp"
	"math"
	"strings"
)

// The evidence that the names at a position are values is a sum of scores. One
// unit halves the number of names that the learner needs: maxNames / 2^evidence.
type evidence float64

// needed is the number of names above which they are values.
func (e evidence) needed() int {
	return int(min(max(maxNames/math.Exp2(float64(e)), minNames), 10*maxNames))
}

// minAlike is minNames where several routes below are the same for all names.
const minAlike = 2

// A relative is a route below a name: how the requests of a name divide among
// these routes is compared between names.
type relative struct {
	method method
	kind   kind   // of the first segment below; nKinds for the name itself
	text   string // of a literal that several siblings have
}

// shares counts the requests of a name by relative route. recurrent literals
// keep their text; all others count as one.
func (b *branch) shares(recurrent map[string]int) map[relative]float64 {
	all := map[relative]float64{}
	for _, rows := range b.rows {
		all[relative{rows.method, nKinds, ""}] += rows.count()
	}
	for _, c := range b.children {
		rel := relative{kind: c.shape.kind}
		if len(c.shape.text) == 0 && c.shape.kind == literal { // a slash at the end
			rel.text = "/"
		}
		if c.shape.kind == rest { // different names, as where no file tree was found
			rel.kind = literal
		}
		if c.shape.kind == literal && recurrent[string(c.shape.text)] > 0 {
			rel.text = string(c.shape.text)
		}
		c.countMethods(func(m method, n float64) {
			rel.method = m
			all[rel] += n
		})
	}
	return all
}

func (r *methodRows) count() (n float64) {
	for _, w := range r.sides {
		if w != nil {
			n += float64(w.count)
		}
	}
	return n
}

// countMethods yields the requests below a branch by method.
func (b *branch) countMethods(yield func(m method, n float64)) {
	for i := range b.rows {
		yield(b.rows[i].method, b.rows[i].count())
	}
	for _, c := range b.children {
		c.countMethods(yield)
	}
}

// cosine is the likeness of two divisions of requests, 0 to 1.
func cosine(a, b map[relative]float64) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for k, x := range a {
		dot += x * b[k]
		aa += x * x
	}
	for _, y := range b {
		bb += y * y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// siblings are the names at one position while the learner examines them.
type siblings struct {
	parent    *branch
	depth     int
	names     []name
	recurrent map[string]int       // literals below that several names have
	bulk      map[relative]float64 // requests of all names by relative route; each name weighs the same
	alike     int                  // names whose requests divide as the bulk's
	single    bool                 // one method only
}

func newSiblings(parent *branch, depth int, names []name) *siblings {
	s := &siblings{parent: parent, depth: depth, names: names, recurrent: map[string]int{}, bulk: map[relative]float64{}}
	for _, v := range names {
		for _, c := range v.b.children {
			if c.shape.kind == literal && len(c.shape.text) > 0 {
				s.recurrent[string(c.shape.text)]++
			}
		}
	}
	least := max(3, (len(names)+3)/4)
	for text, n := range s.recurrent {
		if n < least {
			delete(s.recurrent, text)
		}
	}
	for i := range names {
		names[i].shares = names[i].b.shares(s.recurrent)
		for k, n := range names[i].shares {
			s.bulk[k] += math.Round(1e6 * n / float64(names[i].count)) // whole numbers: any order gives the same sum
		}
	}
	methods := map[method]bool{}
	for k := range s.bulk {
		methods[k.method] = true
	}
	s.single = len(methods) == 1
	for i := range names {
		names[i].like = cosine(names[i].shares, s.bulk)
		if names[i].like > 0.6 {
			s.alike++
		}
	}
	return s
}

// evidence adds up what the texts, the routes below, the times and sizes of
// the names and the text of their parent show.

func (s *siblings) evidence(ref reference) evidence {
	e := s.texts() + s.structure() + s.context()
	main := s.main()
	likeness := s.likeness(timeMoments, ref.times, main, -1.5) + s.likeness(sizeMoments, ref.sizes, main, 0)
	likeness += s.linked(main, ref)
	e += s.recurring(ref) + s.uniform()
	if s.rare() {
		e += 1.33
	}
	if s.numbered() {
		e += 2.5
	}
	if s.users() {
		e += 4
	}
	e += s.codes()
	if s.besideIDs() {
		e -= 3
	}
	return e + likeness
}

// texts is the mean of the names' lexical scores.
func (s *siblings) texts() evidence {
	sum := 0.0
	for _, v := range s.names {
		score := lexical(string(v.b.shape.text))
		if s.belowCollection() && score == knownWords {
			score = 0
		}
		sum += score
	}
	return evidence(sum / float64(len(s.names)))
}

// structure scores the routes below the names: literals that most names have
// prove values; collections (a name with members that have ids, of several
// methods) and names of different methods are evidence against it.
func (s *siblings) structure() (e evidence) {
	shared := 0
	for text, n := range s.recurrent {
		if 2*n < len(s.names) {
			continue
		}
		if !genericBelow[text] {
			shared++
		}
	}
	if shared > 0 {
		e += evidence(min(1+float64(shared), 4))
	}
	if s.collections() {
		e -= 2
	}
	if s.fileTrees() {
		e += 2.5
	}
	e += s.deep()
	switch share := float64(s.alike) / float64(len(s.names)); {
	case share >= 0.85 && len(s.bulk) > 1:
		e++
	case share >= 0.85:
		e += 0.3
	case share < 0.6:
		e -= 1.5
	}
	return e
}

// collections reports whether most names are collections: they answer
// themselves, and members with ids below them are changed.
func (s *siblings) collections() bool {
	n := 0
	for _, v := range s.names {
		self, member := false, false
		for k := range v.shares {
			self = self || k.kind == nKinds
			member = member || k.kind != nKinds && k.kind != literal && k.kind != colon && methods[k.method] != "GET"
		}
		if self && member {
			n++
		}
	}
	return 2*n >= len(s.names)
}

// context scores the parent's text and the methods.
func (s *siblings) context() (e evidence) {
	parent := s.parent.shape
	strict, loose := isCollection(string(parent.text))
	switch {
	case s.depth == 0:
		e -= 0.5
	case parent.kind == paren:
		e += 3
	case parent.kind == colon:
	case parent.kind != literal: // below a value: "/:user/settings"
		if s.texts() < 1 {
			e -= 0.5
		}
	case loose:
		e++
	case strict:
		e += 3
	case procedureFolders[string(bytes.ToLower(parent.text))]:
		e -= 1.5
	case isRouteWord(string(parent.text)) || len(parent.text) > 1 && isVersion(parent.text):
		e -= 0.5
	}
	if s.single && len(s.bulk) == 1 {
		for k := range s.bulk {
			if methods[k.method] != "GET" {
				e--
			}
		}
	}
	return e
}

// main is the relative route that most names have: the name itself or a literal below it, or
// else an identifier below it.
func (s *siblings) main() relative {
	best, ok := s.most(func(k relative) bool { return k.kind == nKinds || k.kind == literal && k.text != "" })
	if !ok {
		best, _ = s.most(func(k relative) bool { return k.kind != literal })
	}
	return best
}

// most is the relative route of some with the most requests.
func (s *siblings) most(of func(relative) bool) (best relative, ok bool) {
	requests := 0.0
	for k, n := range s.bulk {
		if !of(k) {
			continue
		}
		if c := cmp.Or(cmp.Compare(n, requests), cmp.Compare(best.kind, k.kind), cmp.Compare(best.method, k.method), cmp.Compare(best.text, k.text)); c > 0 {
			best, requests, ok = k, n, true
		}
	}
	return best, ok
}

// rowsOf are the rows of a name's relative route.
func (b *branch) rowsOf(rel relative) []*row {
	if rel.kind != nKinds {
		if b = b.children[shape{rel.kind, []byte(strings.TrimPrefix(rel.text, "/"))}.key()]; b == nil {
			return nil
		}
	}
	for _, rows := range b.rows {
		if rows.method == rel.method {
			return rows.sides
		}
	}
	return nil
}

func (b *branch) momentsOf(rel relative, of measure) (m moments) {
	rows := b.rowsOf(rel)
	for _, w := range rows {
		if w != nil {
			m.add(of(w))
		}
	}
	if rows == nil && rel.kind != nKinds && rel.kind != literal { // the routes below an identifier
		if c := b.children[shape{rel.kind, nil}.key()]; c != nil {
			c.addMoments(&m, rel.method, of)
		}
	}
	return m
}

// addMoments adds the rows of a method below a branch.
func (b *branch) addMoments(m *moments, of method, measure measure) {
	for _, rows := range b.rows {
		for _, w := range rows.sides {
			if w != nil && rows.method == of {
				m.add(measure(w))
			}
		}
	}
	for _, c := range b.sorted() {
		c.addMoments(m, of, measure)
	}
}

// likeness scores how much the names differ in a quantity, beyond the noise of
// their samples and in relation to how much the log's routes differ. unlike is
// the score of names that differ as routes do.
func (s *siblings) likeness(of measure, spread float64, rel relative, unlike evidence) evidence {
	if spread == 0 {
		return 0
	}
	var n, noise, sum, sq float64
	for _, v := range s.names {
		m := v.b.momentsOf(rel, of)
		if m.n < 3 {
			continue
		}
		mean := m.mean()
		n, sum, sq = n+1, sum+mean, sq+mean*mean
		noise += m.variance() / float64(m.n-1)
	}
	if n < 5 {
		return 0
	}
	between := max((sq-sum*sum/n)/(n-1)-noise/n, 0)
	switch d := math.Sqrt(between) / spread; {
	case d < 0.06:
		return 2
	case d < 0.1:
		return 1
	case d > 0.16:
		return unlike
	}
	return 0
}

// rare reports whether most names were seen once or twice.
func (s *siblings) rare() bool {
	n := 0
	for _, v := range s.names {
		if v.count <= 2 {
			n++
		}
	}
	return 2*n > len(s.names)
}

// besideIDs reports whether members have ids at this position: names beside
// them are actions and filters ("/users/:id", "/users/active").
func (s *siblings) besideIDs() bool {
	var ids, names int64
	for _, c := range s.parent.children {
		n, _ := c.weigh()
		switch c.shape.kind {
		case number, uuid, ulid:
			ids += n
		case literal:
			names += n
		}
	}
	return ids > names/2
}

// numbered reports whether most names are one stem with different numbers:
// tenant-1, tenant-2.
func (s *siblings) numbered() bool {
	stems := map[string]int{}
	most := 0
	for _, v := range s.names {
		text := v.b.shape.text
		n := len(text)
		for n > 0 && classOf[text[n-1]] == cDigit {
			n--
		}
		if n > 0 && n < len(text) {
			stem := string(text[:n])
			stems[stem]++
			most = max(most, stems[stem])
		}
	}
	return 5*most >= 4*len(s.names)
}

// belowCollection reports whether the names are members of a collection: any
// word may be the name of one.
func (s *siblings) belowCollection() bool {
	strict, _ := isCollection(string(s.parent.shape.text))
	return s.parent.shape.kind == literal && strict
}

// users reports whether the names of authenticated users are among the names.
func (s *siblings) users() bool {
	n := 0
	for _, v := range s.names {
		if v.b.user {
			n++
		}
	}
	return n >= 2 && 5*n >= len(s.names)
}
