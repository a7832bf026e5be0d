package accesslog

import (
	"bytes"
	"cmp"
	"slices"
)

// Thresholds of learning. They are about one position of a path.
const (
	// maxNames: without other evidence, more names than this are values; no
	// site has so many routes that differ in one word.
	maxNames = 100
	// minNames: fewer names are never values, whatever the evidence.
	minNames = 4
	// minOutlier is how many requests a name needs to be separated from its siblings.
	minOutlier = 8
	// maxDead: more names than this that were always answered 4xx share a route.
	maxDead = 20
	// maxFiles: more static files than this of one kind in one folder share a route.
	maxFiles = 8
	// A name among values stays a route if it has at least ownShare of the
	// position's requests, ownTimes as many as the median name and ownGap as
	// many as the next name ("/users/me").
	ownShare, ownTimes, ownGap = 0.05, 20, 4
	// strayShare: a placeholder with a smaller share than this of a more
	// general sibling joins it: a random hex id may happen to be all digits.
	strayShare = 0.05
)

// learn decides for every position of the tree which names are values. It goes
// from the root down, so that a position below merged names is examined once.
func (t *tree) learn() {
	ref := referenceOf(t.root)
	t.root.learn(t.sides, 0, ref)
	// A name may be a value at a later position, and the routes below are known now.
	t.root.learn(t.sides, 0, ref)
}

func (b *branch) learn(sides, depth int, ref reference) {
	if b.shape.kind == queryKeys || b.shape.kind == pattern || b.shape.kind == rest {
		return
	}
	if depth > 0 {
		b.foldFileTree(sides)
	}
	b.foldFiles(sides)
	b.foldHashedFiles(sides)
	b.foldRandomNames(sides)
	b.foldNames(sides, depth, ref)
	b.foldStrays(sides)
	b.foldCase(sides)
	for _, c := range b.sorted() {
		c.learn(sides, depth+1, ref)
	}
}

// foldFiles joins static files by their endings.
func (b *branch) foldFiles(sides int) {
	byExt := map[string][]*branch{}
	for _, c := range b.sorted() {
		if c.shape.kind != literal {
			continue
		}
		if _, ext, ok := ending(c.shape.text); ok && isStatic(ext) {
			byExt[string(ext)] = append(byExt[string(ext)], c)
		}
	}
	for ext, files := range byExt {
		into := shape{file, []byte("." + ext)}
		if some := b.children[into.key()] != nil && b.marks&markFiles != 0; len(files) <= maxFiles && !some {
			continue
		}
		b.marks |= markFiles
		for _, c := range files {
			b.absorb(c, into, sides)
		}
	}
}

// foldHashedFiles joins static files whose names end in a hash: with a digit
// in the hash they are :file by their shape, without one they are literals or
// tokens.
func (b *branch) foldHashedFiles(sides int) {
	if b.mostlyHashed() {
		b.marks |= markTails
	}
	byExt := map[string][]*branch{}
	for _, c := range b.sorted() {
		if ext := c.hashedFile(b.marks&markTails != 0); ext != "" {
			byExt[ext] = append(byExt[ext], c)
		}
	}
	for ext, files := range byExt {
		into := shape{file, []byte(ext)}
		if b.children[into.key()] == nil && len(files) < 2 {
			continue
		}
		b.marks |= markHashes
		for _, c := range files {
			b.absorb(c, into, sides)
		}
	}
}

// hashedFile returns the ending, with its dot, of a static file whose name ends
// in a hash; empty for others.
func (b *branch) hashedFile(weak bool) string {
	text := b.shape.text
	switch b.shape.kind {
	case literal:
		if stem, ext, ok := ending(text); ok && isStatic(ext) && hashTail(stem, weak) {
			return string(text[len(stem):])
		}
	case token, hexes, ulid:
		if len(text) > 0 && isStatic(text[1:]) {
			return string(text)
		}
	}
	return ""
}

// mostlyHashed reports whether the :file routes have most requests for static
// files here.
func (b *branch) mostlyHashed() bool {
	var hashed, other int64
	for _, c := range b.children {
		n, _ := c.weigh()
		if c.shape.kind == file {
			hashed += n
		} else if _, ext, ok := ending(c.shape.text); c.shape.kind == literal && ok && isStatic(ext) {
			other += n
		}
	}
	return hashed > 2*other
}

// A name is a literal child while its parent is examined.
type name struct {
	b      *branch
	count  int64
	shares map[relative]float64 // requests by relative route
	like   float64              // cosine to the shares of all siblings
}

// foldNames joins names that are values.
func (b *branch) foldNames(sides, depth int, ref reference) {
	live, dead := b.names()
	if b.joins[literal] == literal && b.areValues(live, depth, ref) {
		b.joins[literal] = anything
		ref.known.add(live)
	}
	if to := b.joins[literal]; to != literal {
		for _, v := range live {
			if !v.b.own {
				b.absorb(v.b, shape{to, nil}, sides)
			}
		}
	}
	if len(dead) > maxDead || b.joins[literal] != literal || b.marks&markDead != 0 {
		b.marks |= markDead
		to := anything
		if b.joins[literal] != literal {
			to = b.joins[literal]
		}
		for _, v := range dead {
			b.absorb(v.b, shape{to, nil}, sides)
		}
	}
}

// names lists the literal children that may be values: those with an answer
// other than 4xx, and the others.
func (b *branch) names() (live, dead []name) {
	late := false // a common word turned out to be a value
	for _, c := range b.sorted() {
		if c.shape.kind != literal || len(c.shape.text) == 0 || c.own {
			continue
		}
		if _, ext, ok := ending(c.shape.text); ok && isStatic(ext) {
			continue
		}
		count, none := c.weigh()
		switch {
		case none:
			dead = append(dead, name{b: c, count: count})
		case b.joins[literal] != literal && b.marks&markWords == 0 && isReserved(c.shape.text):
			if c.own = b.isNewRoute(c, count); !c.own {
				late, live = true, append(live, name{b: c, count: count})
			}
		default:
			live = append(live, name{b: c, count: count})
		}
	}
	if late {
		b.marks |= markWords
	}
	return live, dead
}

func branchesOf(names []name) (all []*branch) {
	for _, v := range names {
		all = append(all, v.b)
	}
	return all
}

// isNewRoute reports whether a common word that was first seen after the position was
// learned is a route of its own: it has several requests, and they are unlike those of the
// values.
func (b *branch) isNewRoute(c *branch, count int64) bool {
	values := b.children[shape{b.joins[literal], nil}.key()]
	return values == nil || count >= minOutlier && !c.behavesAs(values)
}

// areValues reports whether the names at a position are values, and marks those
// that are routes of their own.
func (b *branch) areValues(live []name, depth int, ref reference) bool {
	names := make([]name, 0, len(live))
	var words []*branch
	for _, v := range live {
		if isReserved(v.b.shape.text) {
			words = append(words, v.b)
		} else {
			names = append(names, v)
		}
	}
	if all := branchesOf(live); areReleases(all) {
		names, words, b.marks = slices.Clone(live), nil, b.marks|markWords
	}
	if len(names) < minAlike {
		return false
	}
	sure := len(names) > 10*maxNames
	examined := names
	if sure {
		examined = busyAndSome(names)
	}
	s := newSiblings(b, depth, examined)
	if few := s.areCodes() || len(names) > minAlike && s.sameBelow(); !sure && !few && len(names) <= s.evidence(ref).needed() {
		return false
	}
	crowd := s.crowdOf(ref, len(words))
	for _, c := range words {
		if n, _ := c.weigh(); crowd.isRoute(c, n) {
			c.own = true
		} else {
			b.marks |= markWords
		}
	}
	for c := range s.outliers(ref, crowd) {
		c.own = true
	}
	for _, v := range busiest(names) {
		v.b.own = true
	}
	return true
}

// busyAndSome returns the names that can be outliers, and as many others as show
// how names behave.
func busyAndSome(names []name) (some []name) {
	rest := maxNames
	for _, v := range names {
		if v.count >= minOutlier {
			some = append(some, v)
		} else if rest > 0 {
			some, rest = append(some, v), rest-1
		}
	}
	return some
}

// busiest returns the names that have far more requests than all others.
func busiest(names []name) []name {
	byCount := slices.SortedFunc(slices.Values(names), func(a, b name) int {
		return cmp.Or(cmp.Compare(b.count, a.count), bytes.Compare(a.b.shape.text, b.b.shape.text))
	})
	var total int64
	for _, v := range byCount {
		total += v.count
	}
	median := byCount[len(byCount)/2].count
	own := 0
	for n := 1; n < len(byCount); n++ {
		last := byCount[n-1].count
		if float64(last) < ownShare*float64(total) || last < ownTimes*median {
			break
		}
		if last >= ownGap*byCount[n].count {
			own = n
		}
	}
	return byCount[:own]
}
