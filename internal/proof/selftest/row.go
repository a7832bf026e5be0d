package selftest

import "math"

// A Row is what was counted of the searches of one scene under one budget.
type Row struct {
	World    string `json:"world"`
	Budget   string `json:"budget"`
	Searches int    `json:"searches"`
	Errors   int    `json:"errors"` // searches that ended with an error
	Error    string `json:"error,omitempty"`

	UselessProven  Measure `json:"useless_proven"`   // searches with a useless change in force that is called proven
	UselessInForce Measure `json:"useless_in_force"` // searches with a useless change in force
	Useless        Measure `json:"useless"`          // how many, mean of a search
	Harmful        Measure `json:"harmful"`          // searches with a harmful change in force
	Good           Measure `json:"good"`             // changes of the best state in force, mean of a search
	Of             float64 `json:"good_of"`          // how many there are, mean of a search
	Share          Measure `json:"share"`            // of the best ln ratio
	Headline       Measure `json:"headline"`         // 90 % intervals that cover the truth
	Alone          Measure `json:"proven_alone"`     // intervals of changes called proven that cover the truth
	Shown          Measure `json:"shown"`            // intervals shown of changes in force that cover the truth
	Unused         Measure `json:"unused"`           // share of the time at the end
	Idle           Measure `json:"idle"`             // searches that left a third of the time while a candidate had no run
	Tried          Measure `json:"tried"`            // candidates that were in force in a run, mean of a search
	Runs           float64 `json:"runs"`             // mean of a search

	// Oracle is what an oracle reaches; nil if it was not asked.
	Oracle *Oracle `json:"oracle,omitempty"`

	Goals []Goal `json:"goals"`
}

// A Measure is a mean with its standard error.
type Measure struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
	N    int     `json:"n"` // of how many; the mean of none is 0
}

// shareOf is the share k of n. Its standard error is that of a share one count further from
// 0 and 1, so that no share seems to be known exactly.
func shareOf(k, n int) Measure {
	if n == 0 {
		return Measure{}
	}
	p := float64(k) / float64(n)
	q := (float64(k) + 1) / (float64(n) + 2)
	return Measure{p, math.Sqrt(q * (1 - q) / float64(n)), n}
}

// measure is the mean of numbers.
func (m Moments) measure() Measure {
	if m.N == 0 {
		return Measure{}
	}
	if m.N == 1 {
		return Measure{m.Mean(), 0, 1}
	}
	return Measure{m.Mean(), m.Error(), int(m.N)}
}

// row is the row of the tally, without goals.
func (t Tally) row(scene string) Row {
	r := Row{World: scene, Budget: t.Name, Searches: t.Searches, Errors: t.Errors, Error: t.Error,
		UselessProven: shareOf(t.AnyProven, t.Searches), UselessInForce: shareOf(t.AnyNull, t.Searches),
		Useless: t.Nulls.measure(),
		Harmful: shareOf(t.AnyHarm, t.Searches), Good: t.Goods.measure(), Share: t.Shares.measure(),
		Headline: shareOf(t.Covered, t.Compared), Alone: shareOf(t.Held, t.Proven),
		Shown: shareOf(t.Inside, t.Changes), Unused: t.Unused.measure(), Idle: shareOf(t.Idle, t.Searches),
		Tried: t.Tried.measure()}
	if t.Searches > 0 {
		r.Of, r.Runs = float64(t.Best)/float64(t.Searches), float64(t.Runs)/float64(t.Searches)
	}
	return r
}
