package isuumo

import (
	"math/rand/v2"
	"net/url"
	"strconv"
)

// A query is a search: conditions by parameter name, and the page.
type query struct {
	conditions []condition
	page, size int
}

// A condition is a parameter of a search with the rows that satisfy it.
type condition struct {
	name, value string
	rows        bitset
}

// set adds a condition, or replaces the one of the same name.
func (q *query) set(c condition) {
	for i := range q.conditions {
		if q.conditions[i].name == c.name {
			q.conditions[i] = c
			return
		}
	}
	q.conditions = append(q.conditions, c)
}

// path returns the request path of a search.
func (q *query) path(base string) string {
	values := url.Values{"page": {strconv.Itoa(q.page)}, "perPage": {strconv.Itoa(q.size)}}
	for _, c := range q.conditions {
		values.Set(c.name, c.value)
	}
	return base + "?" + values.Encode()
}

// sets returns the rows of each condition.
func (q *query) sets() []bitset {
	sets := make([]bitset, len(q.conditions))
	for i := range q.conditions {
		sets[i] = q.conditions[i].rows
	}
	return sets
}

func (q *query) window() window { return window{q.page * q.size, q.size} }

// A picker draws one condition of a search. Those drawn by label hold the labels
// in the order of the condition file, so that a seed draws the same again.
type picker struct {
	name   string
	weight int // of ninths for chairs, of fifths for estates
	draw   func(rng *rand.Rand) condition
}

// byRange draws one of the ranges of a condition.
func byRange(name string, weight int, sets []bitset) picker {
	return picker{name, weight, func(rng *rand.Rand) condition {
		i := rng.IntN(len(sets))
		return condition{name, strconv.Itoa(i), sets[i]}
	}}
}

// byLabel draws one of the labels of a condition.
func byLabel(name string, weight int, list ListCondition, sets map[string]bitset) picker {
	return picker{name, weight, func(rng *rand.Rand) condition {
		label := list.List[rng.IntN(len(list.List))]
		return condition{name, label, sets[label]}
	}}
}

// pick draws a condition by the pickers' weights.
func pick(rng *rand.Rand, pickers []picker) condition {
	sum := 0
	for _, p := range pickers {
		sum += p.weight
	}
	n := rng.IntN(sum)
	for _, p := range pickers {
		if n -= p.weight; n < 0 {
			return p.draw(rng)
		}
	}
	panic("BUG: weights that do not add up")
}

// Sizes of pages.
const (
	userPage = 25
	botPage  = 10
)

// drawQuery draws a user's or bot's search with n picks of conditions.
func drawQuery(rng *rand.Rand, pickers []picker, n, size int) *query {
	q := &query{size: size}
	for range n {
		q.set(pick(rng, pickers))
	}
	return q
}

// Shape of the searches of the verification.
const (
	leastFeatures, mostFeatures = 1, 3
	leastPage, mostPage         = 20, 49
	conditionShare              = 0.1
)

// drawFeatures draws a search of the verification: one to three features, each
// other condition with a probability of 10 %, the first page of 20 to 49 rows.
func drawFeatures(rng *rand.Rand, pickers []picker, list ListCondition, sets map[string]bitset) *query {
	q := &query{size: leastPage + rng.IntN(mostPage-leastPage+1)}
	for _, p := range pickers {
		if rng.Float64() < conditionShare {
			q.set(p.draw(rng))
		}
	}
	q.set(features(list, sets, rng.Perm(len(list.List))[:leastFeatures+rng.IntN(mostFeatures-leastFeatures+1)]))
	return q
}

// features is the condition that a row has all features of the given indexes.
func features(list ListCondition, sets map[string]bitset, indexes []int) condition {
	c := condition{name: "features"}
	for i, at := range indexes {
		label := list.List[at]
		if i == 0 {
			c.value, c.rows = label, append(bitset(nil), sets[label]...)
			continue
		}
		c.value += "," + label
		c.rows.and(sets[label])
	}
	return c
}
