package selftest

import (
	"math"
	"math/bits"
)

// A Set is a set of candidates: bit k is the k-th one.
type Set uint64

// setOf is the set of some candidates.
func setOf(ks ...int) Set {
	var s Set
	for _, k := range ks {
		s |= 1 << k
	}
	return s
}

// Has reports whether the k-th candidate is in the set.
func (s Set) Has(k int) bool { return s>>k&1 == 1 }

// Without is the set without the k-th candidate.
func (s Set) Without(k int) Set { return s &^ (1 << k) }

// Count is the number of candidates in the set.
func (s Set) Count() int { return bits.OnesCount64(uint64(s)) }

// A Truth is what a simulated site scores in each of its states.
type Truth interface {
	// Score is ln(score of the site with these candidates in force / score of the untouched
	// site). long is 0 for the search's short runs, 1 for its full ones, and in between for
	// loads in between.
	Score(in Set, long float64) float64
	// Active are the candidates on which a score depends.
	Active() Set
}

// A Worker is a Truth that knows who works for a request.
type Worker interface {
	Truth
	// Work is the time that a request takes of each resource, where the untouched site
	// answers one request in a unit of time.
	Work(in Set) [Resources]float64
	// Busy is the share of its time for which each resource is in use.
	Busy(in Set) [Resources]float64
	// Touched is the share of all work that is in what a candidate changes.
	Touched(in Set, k int) float64
}

// A Sum is the truth of a site whose changes do not interact: ln(score) is the sum of the
// effects in force.
type Sum struct {
	Effects []float64 // on ln(score), by candidate
	Late    []float64 // further ones that full runs show and short ones do not
}

// sumOf is the truth of candidates that do not interact.
func sumOf(cs []Candidate) Sum {
	s := Sum{make([]float64, len(cs)), make([]float64, len(cs))}
	for k, c := range cs {
		s.Effects[k], s.Late[k] = math.Log1p(c.Effect), math.Log1p(c.Late)
	}
	return s
}

// Score implements Truth.
func (t Sum) Score(in Set, long float64) float64 {
	sum := 0.0
	for k := range t.Effects { // in one order: a sum of floats depends on it
		if in.Has(k) {
			sum += t.Effects[k] + long*t.Late[k]
		}
	}
	return sum
}

// Active implements Truth.
func (t Sum) Active() Set {
	var s Set
	for k := range t.Effects {
		if t.Effects[k] != 0 || t.Late[k] != 0 {
			s |= 1 << k
		}
	}
	return s
}

// An Interplay is the truth of a site whose changes interact by rules: ln(score) is the sum
// of the effects of the rules that hold.
type Interplay []Effect

// An Effect is one effect of changes together.
type Effect struct {
	With, Without Set     // which candidates are in force, and which are not
	Share         float64 // what it adds to the score, as a share
}

// Score implements Truth.
func (t Interplay) Score(in Set, _ float64) float64 {
	sum := 0.0
	for _, r := range t {
		if in&r.With == r.With && in&r.Without == 0 {
			sum += math.Log1p(r.Share)
		}
	}
	return sum
}

// Active implements Truth.
func (t Interplay) Active() Set {
	var s Set
	for _, r := range t {
		s |= r.With | r.Without
	}
	return s
}

// alters is the least difference of ln(score) that is none of rounding.
const alters = 1e-9

// marginal is what removing a candidate in force would cost, on ln(score): 0 of a useless
// one, below 0 of a harmful one.
func marginal(t Truth, in Set, k int, long float64) float64 {
	d := t.Score(in, long) - t.Score(in.Without(k), long)
	if math.Abs(d) < alters {
		return 0
	}
	return d
}

// A Best is the best that can be reached among the candidates.
type Best struct {
	Score float64 // on ln(score)
	Sets  []Set   // the smallest sets that reach it
}

// bestOf finds the best among the sets that are allowed, in full runs.
func bestOf(t Truth, allowed func(Set) bool) Best {
	if s, ok := t.(Sum); ok {
		return s.best(allowed)
	}
	var ks []int
	for active := t.Active(); active != 0; active &= active - 1 {
		ks = append(ks, bits.TrailingZeros64(uint64(active)))
	}
	best := Best{Sets: []Set{0}}
	for n := range 1 << len(ks) {
		var in Set
		for i, k := range ks {
			if n>>i&1 == 1 {
				in |= 1 << k
			}
		}
		if !allowed(in) {
			continue
		}
		switch score := t.Score(in, 1); {
		case score > best.Score+alters, score > best.Score-alters && in.Count() < best.Sets[0].Count():
			best = Best{score, []Set{in}}
		case score > best.Score-alters && in.Count() == best.Sets[0].Count() && in != best.Sets[0]:
			best.Sets = append(best.Sets, in)
		}
	}
	return best
}

// best is that of changes that do not interact: all those that gain and are allowed.
func (t Sum) best(allowed func(Set) bool) Best {
	var in Set
	for k := range t.Effects {
		if t.Effects[k]+t.Late[k] > alters && allowed(in|1<<k) {
			in |= 1 << k
		}
	}
	return Best{t.Score(in, 1), []Set{in}}
}

// found is how many changes of the best set nearest to a state are in force there.
func (b Best) found(in Set) int {
	most := 0
	for _, s := range b.Sets {
		most = max(most, (s & in).Count())
	}
	return most
}
