package iikanji

// A Fault is a group of errors of one kind at one step, with one example and a count.
// Errors are never listed one by one.
type Fault struct {
	Kind FaultKind `json:"kind"`
	Step string    `json:"step,omitempty"`
	// Check is the stable name of the scenario's check that failed, as in
	// "trend-backwards"; empty for faults of transport.
	Check   string `json:"check,omitempty"`
	Message string `json:"message"` // of the first error
	Count   int64  `json:"count"`
	// Fatal faults fail the run at once.
	Fatal   bool     `json:"fatal,omitempty"`
	Example *Example `json:"example,omitempty"`
}

// An Example is one request and answer with a Fault. It contains no secrets
// (cookies, tokens, form bodies).
type Example struct {
	Request string `json:"request"`          // method and path
	Status  int    `json:"status,omitempty"` // 0 without an answer
	Body    string `json:"body,omitempty"`   // first bytes, valid UTF-8
}

// A FaultKind is the layer at which a request failed.
type FaultKind uint8

const (
	FaultUnknown     FaultKind = iota
	FaultDial                  // no connection
	FaultTimeout               // no complete answer in time
	FaultClosed                // the connection ended before the answer was complete
	FaultProtocol              // not HTTP/1.1, or beyond the limits
	FaultStatus                // not the expected status
	FaultContentType           // not the expected media type
	FaultBody                  // a body that does not decode: JSON, gzip, length
	FaultCheck                 // well-formed but wrong
	FaultCut                   // cut off by the end of the phase; never counted as an error
)

var faultKindWords = []string{"unknown", "dial", "timeout", "closed", "protocol", "status", "content-type", "body", "check", "cut"}

func (k FaultKind) String() string               { return wordOf(faultKindWords, k) }
func (k FaultKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText accepts the words that String prints.
func (k *FaultKind) UnmarshalText(b []byte) error {
	return parseWord(faultKindWords, b, k, "fault kind")
}
