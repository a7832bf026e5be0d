package isucondition

import "time"

// The contest's bands rest on these relations. An ISU has one condition per minute
// and posts the newest 10 of them three times per virtual hour, so 30 per hour are
// offered. Only a target that stores all three posts reaches the best band (more
// than 20). The relations hold at every clock rate.
const (
	slotSeconds = 60   // virtual time between two conditions of an ISU
	postSeconds = 1200 // virtual time between two posts of an ISU
	postBatch   = 10   // conditions in one post

	hourSeconds = 60 * 60
	daySeconds  = 24 * hourSeconds
	jstSeconds  = 9 * hourSeconds
)

// A clock is virtual time: T0 at its origin, then rate times as fast as real time.
type clock struct {
	origin time.Time
	rate   float64
}

// at returns the virtual time, in Unix seconds, of a real instant.
func (c clock) at(t time.Time) int64 {
	return T0.Unix() + int64(t.Sub(c.origin).Seconds()*c.rate)
}

func (c clock) now() int64 { return c.at(time.Now()) }

// tick returns the real time between two posts of one ISU.
func (c clock) tick() time.Duration {
	return time.Duration(postSeconds / c.rate * float64(time.Second))
}

// span returns the virtual seconds in a real duration.
func (c clock) span(d time.Duration) int64 { return int64(d.Seconds() * c.rate) }

// sinceOrigin returns a real instant in milliseconds since the origin, the form
// that histories store.
func (c clock) sinceOrigin(t time.Time) int64 { return t.Sub(c.origin).Milliseconds() }

// dayOf returns the JST midnight, in Unix seconds, of the day that contains ts.
func dayOf(ts int64) int64 {
	into := (ts + jstSeconds) % daySeconds
	if into < 0 {
		into += daySeconds
	}
	return ts - into
}
