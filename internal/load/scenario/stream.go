package scenario

import (
	"time"

	"github.com/iikanji/iikanji"
)

// A Protocol is a version of HTTP.
type Protocol uint8

const (
	// Negotiated lets the target choose over https (ALPN), as browsers do: HTTP/2
	// where the target offers it. Over http it means HTTP/1.1.
	Negotiated Protocol = iota
	// HTTP1 is HTTP/1.1.
	HTTP1
	// HTTP2 is HTTP/2. Over https it is a fault if the target does not choose it. Over
	// http the client begins with HTTP/2, without asking first.
	HTTP2
)

// String returns the name of the protocol.
func (p Protocol) String() string {
	switch p {
	case HTTP1:
		return "HTTP/1.1"
	case HTTP2:
		return "HTTP/2"
	}
	return "negotiated"
}

// NoTimeout is a Request.Timeout that no phase reaches: the end of the phase cuts
// the exchange.
const NoTimeout = 1000 * time.Hour

// A Stream is one exchange over HTTP/2 whose two bodies are sent and read piece by
// piece, in any order. Send may be called from one goroutine and Read, Head and End
// from another. Errors are *Fault, like those of Client.Do, or io.EOF from Read.
//
// The stream counts once in the step of its request, when it ends: its latency is
// the time from Request.Due, or from its start, to its end. Turns within it count in
// steps of their own.
type Stream interface {
	// Send sends a part of the request's body. It returns when all of p was handed to
	// the connection, which waits for the target's flow control. last ends the body; a
	// call with last and no bytes is allowed. After an error the stream is over. A target
	// may end the answer before the request is complete: Send then returns nil, and the
	// bytes are dropped.
	Send(p []byte, last bool) error
	// Head waits for the status and the header fields. The Response has no body. It is
	// valid until Close; the caller must not release it.
	Head() (*Response, error)
	// Read waits for bytes of the answer's body and copies them to p. It returns
	// io.EOF after the last byte.
	Read(p []byte) (n int, err error)
	// End reads the rest of the answer, drops it, and returns the Response with its
	// trailers. The request's body must have been ended by Send. The Response is valid
	// until Close; the caller must not release it.
	End() (*Response, error)
	// Count counts a turn that is over, as an exchange of its own.
	Count(t *Turn)
	// Close frees the stream. If it is not over, it is reset (CANCEL), and counts as an
	// exchange without a fault: the scenario wanted no more of it.
	Close()
}

// A Turn is a message and its answer within a stream.
type Turn struct {
	Step  Step
	Due   time.Time // latency counts from Due, or from Start if Due is zero
	Start time.Time
	End   time.Time
	// Sent and Received are the sizes of the messages in bytes.
	Sent, Received int64
	// Fault is why the turn failed, FaultUnknown if it did not.
	Fault iikanji.FaultKind
}
