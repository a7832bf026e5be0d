package selftest

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// A Candidate is one candidate of a simulated search.
type Candidate struct {
	Effect float64 // true effect, as a share: 0.10 is +10 %. A search with a Truth has it there.
	// Promise is the gain on ln(score) that its finding expects; the candidate's
	// act expects 0.08 at least.
	Promise float64
	Late    float64 // a further effect, as a share, that only full runs show
	Noise   float64 // factor on the noise of states that have it; 0 is 1
	Voids   float64 // share of its own runs that do not count. Such a change is not wanted.
	Rows    float64 // factor on the rows examined per request; 0 is 1
	Kind    Kind
	Of      int  // of a Knob: the first candidate that is a value of the same constant
	Differs bool // of a Rewrite: it answers otherwise. Such a change is not wanted.
	// Simplifies: it may be kept without a proven gain if it lowers a counter.
	Simplifies bool
}

// A Kind is what sort of change a candidate is.
type Kind uint8

const (
	Index   Kind = iota
	Rewrite      // of an app's source
	Knob         // one of several values of a constant in source
	Cache        // of queries, in an app's source: planned from all of it, so tried apart
	kinds        // how many there are
)

// place is the file that the k-th candidate changes. Values of one constant share it.
func (c Candidate) place(k int) string {
	if c.Kind == Knob {
		return place(c.Of)
	}
	return place(k)
}

// content is what the file has when the k-th candidate is in force.
func (c Candidate) content(k int) string {
	if c.Kind == Knob {
		return place(k)
	}
	return switchedOn
}

// code is that of the candidate's finding.
func (c Candidate) code() iikanji.Code {
	switch c.Kind {
	case Rewrite:
		return "APP201"
	case Knob:
		return "APP214"
	case Cache:
		return "APP207"
	}
	return "DB101"
}

// remedy is that of the k-th candidate.
func (c Candidate) remedy(k int) iikanji.Remedy {
	r := iikanji.Remedy{Kind: "ddl", Target: "site", Says: "change " + place(k),
		Args: map[string]string{"act": "add index", "schema": "s", "table": place(k), "columns": "c"}}
	if c.Kind != Index {
		r.Kind, r.Target = "gocode", "app"
		r.Args = map[string]string{"levers": string(c.code()), "file": c.place(k) + ".go", "func": "list"}
	}
	if c.Kind == Knob {
		r.Args["variant"] = fmt.Sprintf("value %d", k)
	}
	return r
}

// unwanted reports whether a change must not be in force whatever the score.
func (c Candidate) unwanted() bool { return c.Voids > 0 || c.Differs }

// lowersWork reports whether the change makes the site cheaper, if not faster: it is of use
// although the score stays.
func (c Candidate) lowersWork() bool { return c.Rows > 0 && c.Rows < 1 }

// candidates repeats n candidates of one effect.
func candidates(n int, effect float64) []Candidate {
	all := make([]Candidate, n)
	for i := range all {
		all[i].Effect = effect
	}
	return all
}
