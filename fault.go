package iikanji

// A Fault is one kind of thing that went wrong at one step, with one example
// and a count: faults are grouped, never listed one by one.
type Fault struct {
	Kind FaultKind `json:"kind"`
	Step string    `json:"step,omitempty"`
	// Check is the stable name of the scenario's check that failed, as in
	// "trend-backwards"; empty for faults of transport.
	Check   string `json:"check,omitempty"`
	Message string `json:"message"` // of the first one seen
	Count   int64  `json:"count"`
	// Fatal faults fail the run at once.
	Fatal   bool     `json:"fatal,omitempty"`
	Example *Example `json:"example,omitempty"`
}

// An Example is one exchange that shows a Fault. Secrets (cookies, tokens,
// form bodies) are no part of it.
type Example struct {
	Request string `json:"request"`          // method and path
	Status  int    `json:"status,omitempty"` // 0 where no answer came
	Body    string `json:"body,omitempty"`   // first bytes, valid UTF-8
}

// A FaultKind says at which layer something went wrong.
type FaultKind uint8

const (
	FaultUnknown     FaultKind = iota
	FaultDial                  // no connection
	FaultTimeout               // no whole answer in time
	FaultClosed                // the connection ended before the whole answer
	FaultProtocol              // not HTTP/1.1, or beyond the limits
	FaultStatus                // another status than the one wanted
	FaultContentType           // another media type than the one wanted
	FaultBody                  // a body that does not decode: JSON, gzip, length
	FaultCheck                 // well-formed but wrong
	FaultCut                   // cut off by the end of the phase; never counted against anyone
)

var faultKindWords = []string{"unknown", "dial", "timeout", "closed", "protocol", "status", "content-type", "body", "check", "cut"}

func (k FaultKind) String() string               { return wordOf(faultKindWords, k) }
func (k FaultKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText accepts the words that String prints.
func (k *FaultKind) UnmarshalText(b []byte) error {
	return parseWord(faultKindWords, b, k, "fault kind")
}
