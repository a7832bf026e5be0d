package accesslog

import (
	"math"
	"slices"
)

// Among values, a word that is common in routes may be a route of its own ("/settings" beside
// "/:user") or a value that happens to be such a word ("/wiki/Contact"). The evidence for a
// route is a sum of scores in bits, each the logarithm of how much likelier what was seen is
// for a route. A word is a route if the sum is positive.

// A crowd describes the names at a position, against which a word is compared.
type crowd struct {
	s       *siblings
	ref     reference
	rel     relative
	counts  []int64 // requests of the names, ascending
	plain   float64 // share of the names that are one word in small letters
	known   int     // names and words at the position that are common in routes
	slugs   bool
	strict  bool // the position is below the noun of a collection
	times   spreadOf
	sizes   spreadOf
	bearing bool // most names have routes below them
}

// A spreadOf is the mean of a quantity over names, and how far those are from it.
type spreadOf struct {
	ok                      bool
	center, between, within float64 // variances
}

// crowdOf measures the names at a position. words are the common words there.
func (s *siblings) crowdOf(ref reference, words int) *crowd {
	c := &crowd{s: s, ref: ref, rel: s.main(), known: words, slugs: s.slugs(), strict: s.belowCollection()}
	plain, bearing := 0, 0
	for _, v := range s.names {
		c.counts = append(c.counts, v.count)
		text := v.b.shape.text
		if maskOf(text)&^cLower == 0 && len(text) >= 3 || maskOf(text)&^cLetter == 0 && isTitle(text) {
			plain++
		}
		if lexical(string(text)) <= knownWords {
			c.known++
		}
		if len(v.b.children) > 0 {
			bearing++
		}
	}
	slices.Sort(c.counts)
	c.plain = float64(plain) / float64(max(len(s.names), 1))
	c.bearing = 2*bearing > len(s.names)
	c.times, c.sizes = s.spreadOf(c.rel, timeMoments), s.spreadOf(c.rel, sizeMoments)
	return c
}

// spreadOf measures a quantity of the names by a relative route.
func (s *siblings) spreadOf(rel relative, of measure) (d spreadOf) {
	var all moments
	var n, noise, sum, sq float64
	for _, v := range s.names {
		m := v.b.momentsOf(rel, of)
		all.add(m)
		if m.n >= 3 {
			mean := m.mean()
			n, sum, sq = n+1, sum+mean, sq+mean*mean
			noise += m.variance() / float64(m.n-1)
		}
	}
	if all.n < minGroup {
		return d
	}
	d = spreadOf{ok: true, center: all.mean(), between: all.variance(), within: all.variance()}
	if n >= 5 {
		d.between = max((sq-sum*sum/n)/(n-1)-noise/n, 0)
		d.within = max(all.variance()-d.between, 0.01)
	}
	return d
}

// isRoute reports whether a word is a route of its own.
func (c *crowd) isRoute(b *branch, count int64) bool { return c.evidence(b, count) > 0 }

// evidence adds up what speaks for a route.
func (c *crowd) evidence(b *branch, count int64) float64 {
	if b.user {
		return -10
	}
	return c.text(b) + c.frequency(count) + c.structure(b, count) +
		c.distance(b, timeMoments, c.times, c.ref.times) + c.distance(b, sizeMoments, c.sizes, c.ref.sizes)/2
}

// text scores the word itself and what the names are.
func (c *crowd) text(b *branch) (bits float64) {
	weak := weakReserved[string(b.shape.text)]
	switch {
	case weak:
		bits = 1
	case isReserved(b.shape.text):
		bits = 2.5
	default:
		bits = 0.5
	}
	if c.s.depth == 0 {
		bits++
	}
	if c.strict {
		bits -= 1.5
	}
	switch {
	case c.slugs && isSlug(b.shape.text):
		bits -= 4
	case c.plain < 0.15:
		bits++
	case c.plain > 0.4: // words: some of them are common in routes
		bits--
	}
	if c.plain >= 0.15 && c.known > 5 { // the more such words, the less each proves
		bits -= math.Log2(float64(c.known) / 5)
	}
	return bits
}

// frequency compares the requests of the word with those of the names.
func (c *crowd) frequency(count int64) float64 {
	n := len(c.counts)
	i, _ := slices.BinarySearch(c.counts, count)
	most := max(c.counts[n-1], 1)
	switch above := float64(n-i) / float64(n); {
	case count > most:
		return min(1+math.Log2(float64(count)/float64(most)), 3)
	case above > 0.5:
		return -1.5
	case above > 0.1:
		return -0.5 - (above-0.1)*2.5
	}
	return 0
}

// structure compares the routes below the word with those below the names.
func (c *crowd) structure(b *branch, count int64) float64 {
	shares := b.shares(c.s.recurrent)
	like := cosine(shares, c.s.bulk)
	switch {
	case len(b.children) > 0 && like > 0.85:
		return -5
	case like < 0.35 && count >= 4:
		return 3
	case like < 0.35:
		return 1
	case c.bearing && len(b.children) == 0 && count >= minOutlier:
		return 1
	case c.bearing && like > 0.6:
		return -1
	}
	for k := range shares {
		if c.s.bulk[k] == 0 && shares[k]*10 >= float64(count) && shares[k] >= 2 {
			return 2
		}
	}
	return 0
}

// distance scores how far the word is from the names in a quantity, where the log's routes
// differ in it: the density of values at that distance against that of routes.
func (c *crowd) distance(b *branch, of measure, d spreadOf, spread float64) float64 {
	m := b.momentsOf(c.rel, of)
	if !d.ok || spread == 0 || m.n == 0 {
		return 0
	}
	v := d.between + d.within/float64(m.n) + 0.01
	x := m.mean() - d.center
	value := math.Exp(-x*x/(2*v)) / math.Sqrt(2*math.Pi*v)
	return min(max(-math.Log2(max(value, 1e-9)*(spread+1)), -3), 4, float64(m.n)/2)
}
