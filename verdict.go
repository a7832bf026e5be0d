package iikanji

// A Verdict says what interleaved runs prove about a Change.
type Verdict struct {
	Change ChangeID `json:"change"`
	Call   Call     `json:"call"`
	Reason Reason   `json:"reason"`
	Base   []RunID  `json:"base"`  // the incumbent's runs that counted
	Tried  []RunID  `json:"tried"` // the candidate's, each beside its partner in Base
	// Effect is on ln(score), with the repeated confidence interval: its Level
	// holds although the runs were looked at more than once.
	Effect Interval `json:"effect"`
	// Shrunk is Effect.Mid less the winner's curse: what to expect of it later.
	Shrunk    float64  `json:"shrunk"`
	P         float64  `json:"p"`      // one-sided, of this look alone
	Worth     float64  `json:"worth"`  // the least effect on ln(score) worth keeping
	Needed    int      `json:"needed"` // further pairs that could decide; 0 for none
	Work      []Work   `json:"work,omitempty"`
	NewFaults []Fault  `json:"new_faults,omitempty"`
	Why       string   `json:"why"`
	Warnings  []string `json:"warnings,omitempty"`
}

// A Work is what became of the work per successful request: queries, rows,
// bytes, CPU. It explains the score and varies far less than it.
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

// A Reason says which rule of the method made the Call.
type Reason uint8

const (
	ReasonUnknown Reason = iota
	Proven               // keep: the gain is proven and worth it
	Neutral              // keep: no loss, less work, a simpler system
	Gate                 // revert: wrong answers, failures, a broken promise; whatever the score
	NoGain               // revert: a gain worth keeping is ruled out
	Undecided            // inconclusive: the last look has passed; park it
	TooFew               // no call yet: more pairs may decide
	Shifted              // no call yet: the environment has shifted; the last pair is void, calibrate again
)

var reasonWords = []string{"unknown", "proven", "neutral", "gate", "no-gain", "undecided", "too-few", "shifted"}

func (r Reason) String() string               { return wordOf(reasonWords, r) }
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText accepts the words that String prints.
func (r *Reason) UnmarshalText(b []byte) error { return parseWord(reasonWords, b, r, "reason") }
