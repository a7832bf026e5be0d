package scenario

import (
	"time"

	"github.com/iikanji/iikanji"
)

// An Exchange is one request that a scenario sent with a client of its own, for a
// load that [Client] does not fit. The request had a connection of its own.
type Exchange struct {
	Step   Step
	Client uint16 // number of the scenario's own client
	Method string
	// Head is the request as it was sent, or its beginning up to the empty line.
	// Session.Record does not keep it.
	Head       []byte
	Start, End time.Time
	Status     int   // 0 without an answer
	Sent       int64 // bytes on the wire
	Received   int64 // bytes on the wire
	// Fault is why the exchange failed, FaultUnknown if it did not. FaultCut is for
	// exchanges that the end of the phase cut.
	Fault iikanji.FaultKind
	// Cause is the error of the system for Fault. For a failed connection it shows
	// whether the generator ran out of ports or descriptors.
	Cause error
}
