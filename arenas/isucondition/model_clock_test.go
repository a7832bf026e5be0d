package isucondition

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	origin := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	c := clock{origin: origin, rate: 30000}
	if got := c.at(origin); got != T0.Unix() {
		t.Errorf("at its origin the clock shows %d, want %d", got, T0.Unix())
	}
	if got := c.at(origin.Add(2880 * time.Millisecond)); got != T0.Unix()+daySeconds {
		t.Errorf("2.88 s are %d virtual seconds, want a day", got-T0.Unix())
	}
	if got := c.at(origin.Add(-time.Second)); got != T0.Unix()-30000 {
		t.Errorf("a second before its origin the clock shows %d", got-T0.Unix())
	}
	if c.tick() != 40*time.Millisecond {
		t.Errorf("a tick is %v, want 40ms", c.tick())
	}
	if c.span(2*time.Second) != 60000 {
		t.Errorf("2 s span %d virtual seconds, want 60000", c.span(2*time.Second))
	}
	if c.sinceOrigin(origin.Add(1500*time.Millisecond)) != 1500 {
		t.Error("1.5 s are not 1500 ms")
	}
}

// TestClockRelation checks the relations that the bands rest on, at every clock
// rate.
func TestClockRelation(t *testing.T) {
	for _, rate := range []float64{30000, 15000, 12000, 6000, 100} {
		c := clock{rate: rate}
		perHour := hourSeconds / (c.tick().Seconds() * rate)
		if offered := perHour * postBatch; offered < 29.99 || offered > 30.01 {
			t.Errorf("at %g: %g conditions per virtual hour, want 30", rate, offered)
		}
		if bandOf(29) != 0 || bandOf(20) == 0 {
			t.Error("two posts of an hour must not be enough for the best band, three must be")
		}
	}
}

func TestDayOf(t *testing.T) {
	midnight := T0.Unix()
	for ts, want := range map[int64]int64{
		midnight:                  midnight,
		midnight - 1:              midnight - daySeconds,
		midnight + daySeconds - 1: midnight,
		midnight + daySeconds:     midnight + daySeconds,
		0:                         -jstSeconds,
		-jstSeconds - 1:           -jstSeconds - daySeconds,
	} {
		if got := dayOf(ts); got != want {
			t.Errorf("dayOf(%d) = %d, want %d", ts, got, want)
		}
	}
}
