package isucondition

import "time"

// The relation that the contest's bands rest on: an ISU has one condition per
// minute and posts the newest 10 of them three times per virtual hour, so
// that 30 per hour are offered and only who stores all three posts reaches
// the best band (more than 20). It holds at every speed of the clock.
const (
	slotSeconds = 60   // virtual, between two conditions of an ISU
	postSeconds = 1200 // virtual, between two posts of an ISU
	postBatch   = 10   // conditions in one post

	hourSeconds = 60 * 60
	daySeconds  = 24 * hourSeconds
	jstSeconds  = 9 * hourSeconds
)

// A clock is virtual time: it stands at T0 at its origin and runs rate times
// as fast as real time.
type clock struct {
	origin time.Time
	rate   float64
}

// at is the virtual time, in Unix seconds, of a real instant.
func (c clock) at(t time.Time) int64 {
	return T0.Unix() + int64(t.Sub(c.origin).Seconds()*c.rate)
}

func (c clock) now() int64 { return c.at(time.Now()) }

// tick is the real time between two posts of one ISU.
func (c clock) tick() time.Duration {
	return time.Duration(postSeconds / c.rate * float64(time.Second))
}

// span is how many virtual seconds pass in a real duration.
func (c clock) span(d time.Duration) int64 { return int64(d.Seconds() * c.rate) }

// sinceOrigin is a real instant in milliseconds since the origin, as the
// ledgers store it.
func (c clock) sinceOrigin(t time.Time) int64 { return t.Sub(c.origin).Milliseconds() }

// dayOf is the JST midnight, in Unix seconds, of the day that holds ts.
func dayOf(ts int64) int64 {
	into := (ts + jstSeconds) % daySeconds
	if into < 0 {
		into += daySeconds
	}
	return ts - into
}
