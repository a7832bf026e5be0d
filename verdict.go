package iikanji

import "fmt"

// A Verdict is the result of the interleaved runs of a Change.
type Verdict struct {
	Change ChangeID `json:"change"`
	Call   Call     `json:"call"`
	Reason Reason   `json:"reason"`
	Base   []RunID  `json:"base"`  // the incumbent's runs that counted
	Tried  []RunID  `json:"tried"` // the candidate's runs; Tried[i] is paired with Base[i]
	// Effect is the effect on ln(score), with its repeated confidence interval:
	// its Level holds in spite of several interim analyses.
	Effect Interval `json:"effect"`
	// Expect is the effect to expect in later runs and its credible interval:
	// Effect, corrected for the winner's curse.
	Expect Interval `json:"expect"`
	// Doubt is the probability that the change has no effect at all.
	Doubt     float64 `json:"doubt"`
	SE        float64 `json:"se"`     // standard error of Effect.Mid
	Shrunk    float64 `json:"shrunk"` // Expect.Mid
	P         float64 `json:"p"`      // one-sided, of this interim analysis alone
	Worth     float64 `json:"worth"`  // the least effect on ln(score) worth keeping
	Needed    int     `json:"needed"` // further pairs of runs that could give a decision; 0 for none
	Work      []Work  `json:"work,omitempty"`
	NewFaults []Fault `json:"new_faults,omitempty"`
	// Answered is the comparison of answers before the runs of a change of source.
	Answered *Answered `json:"answered,omitempty"`
	Why      string    `json:"why"`
	Warnings []string  `json:"warnings,omitempty"`
}

// Answered counts the requests whose answers were compared before and after a change
// of source.
type Answered struct {
	Requests int `json:"requests"`          // whose answers were compared
	Routes   int `json:"routes"`            // of these requests
	Borders  int `json:"borders,omitempty"` // of them with a parameter at a border
	// Left counts the requests that prove nothing: no answer in time, an answer that
	// changes by itself, or an error.
	Left int `json:"left_out,omitempty"`
}

// String is as in "1,204 requests on 12 routes".
func (a Answered) String() string {
	text := fmt.Sprintf("%s on %s", counted(a.Requests, "request"), counted(a.Routes, "route"))
	if a.Borders > 0 {
		text += fmt.Sprintf(", %d of them at borders of parameters", a.Borders)
	}
	if a.Left > 0 {
		text += fmt.Sprintf("; %d could not be compared", a.Left)
	}
	return text
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// A Work is the effect of a Change on the work per successful request: queries,
// rows, bytes, CPU. The work explains the score and varies far less than the score.
type Work struct {
	Name   string   `json:"name"`
	Effect Interval `json:"effect"` // on ln(work per request)
}

// A Call is the decision of a Verdict.
type Call uint8

const (
	CallUnknown Call = iota
	Keep
	Revert
	Inconclusive
)

var callWords = []string{"unknown", "keep", "revert", "inconclusive"}

func (c Call) String() string               { return wordOf(callWords, c) }
func (c Call) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText accepts the words that String prints.
func (c *Call) UnmarshalText(b []byte) error { return parseWord(callWords, b, c, "call") }

// A Reason is the rule of the method that led to the Call.
type Reason uint8

const (
	ReasonUnknown Reason = iota
	Proven               // keep: the gain is proven and large enough
	Neutral              // keep: no loss, and less work or a simpler system
	Cheaper              // keep: its requests cost much less, and the score is undecided
	Gate                 // revert: wrong answers, failures or a broken promise, regardless of the score
	NoGain               // revert: a gain worth keeping is ruled out
	Undecided            // inconclusive: no interim analysis is left; put the change aside
	TooFew               // no call yet: more pairs of runs may give a decision
	Shifted              // no call yet: the environment has shifted; the last pair is void, calibrate again
)

var reasonWords = []string{"unknown", "proven", "neutral", "cheaper", "gate", "no-gain", "undecided", "too-few", "shifted"}

func (r Reason) String() string               { return wordOf(reasonWords, r) }
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText accepts the words that String prints.
func (r *Reason) UnmarshalText(b []byte) error { return parseWord(reasonWords, b, r, "reason") }
