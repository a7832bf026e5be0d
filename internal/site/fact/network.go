package fact

import (
	"time"

	"github.com/iikanji/iikanji"
)

// Topics of facts about the network between the machines of a site; all move.
const (
	TopicLink Topic[Link] = "link" // Target the machine, "local" for this one, Key the interface
	TopicTrip Topic[Trip] = "trip" // Target the client service, Key the service on another machine that it connects to
)

// A Link is what went over a network interface of a machine during the load.
type Link struct {
	In         iikanji.Bytes `json:"in"`
	Out        iikanji.Bytes `json:"out"`
	InPackets  int64         `json:"in_packets"`
	OutPackets int64         `json:"out_packets"`
	Drops      int64         `json:"drops,omitempty"`
	Errors     int64         `json:"errors,omitempty"`
	Speed      float64       `json:"bytes_per_second,omitempty"` // in one direction; 0 if unknown
	Wall       time.Duration `json:"wall_ns"`
	// Retransmits and Opened are of the whole machine: segments that were sent again, and
	// connections that it opened.
	Retransmits int64 `json:"retransmits,omitempty"`
	Opened      int64 `json:"opened,omitempty"`
}

// A Trip is how a service reaches another one on another machine, by the connections between
// them at the end of the load.
type Trip struct {
	From        string        `json:"from"` // the machine
	To          string        `json:"to"`
	Connections int           `json:"connections"`
	RoundTrip   time.Duration `json:"round_trip_ns"` // mean of the kernel's smoothed ones
	Least       time.Duration `json:"least_ns,omitempty"`
	Segments    int64         `json:"segments"` // that the client sent, since the connections began
	Retransmits int64         `json:"retransmits,omitempty"`
	Sent        iikanji.Bytes `json:"sent"`
	Received    iikanji.Bytes `json:"received"`
}
