package observe

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

const (
	// mostUnsure is how far an offset of a clock may be from the true one: half of the
	// round trip of the best exchange.
	mostUnsure = 20 * time.Millisecond
	// mostDrift is how far two clocks may move apart during a load.
	mostDrift = 50 * time.Millisecond
)

// aheadOf is by how much the clock of a machine was ahead in the middle of the load; 0 for
// this machine.
func (o *Observer) aheadOf(run *iikanji.Run, h host.Host) time.Duration {
	is, ok := run.Host(h.Name())
	if !ok || is.Clock == nil {
		return 0
	}
	return is.Clock.OffsetAt(o.began.Add(o.ended.Sub(o.began) / 2))
}

// setClocks tells the watches of logs how far the clocks of their machines are ahead.
func (o *Observer) setClocks(run *iikanji.Run) {
	for _, w := range o.webs {
		w.ahead = o.aheadOf(run, w.host)
	}
	for _, d := range o.databases {
		d.ahead = o.aheadOf(run, d.host)
	}
	for _, l := range o.logs {
		l.ahead = o.aheadOf(run, l.host)
	}
}

// clockSensors prove the clocks of the other machines: by them the records of their logs are
// put beside those of this one.
func (o *Observer) clockSensors(run *iikanji.Run) (out []Sensor) {
	for _, w := range o.hosts {
		if host.WorkerOf(w.h) == nil {
			continue
		}
		s := Sensor{Source: iikanji.Clocks, Target: w.name(), Name: "clock of " + w.name()}
		is, ok := run.Host(w.h.Name())
		if !ok || is.Clock == nil {
			out = append(out, s.settle(errNoClock))
			continue
		}
		out = append(out, proveClock(s, *is.Clock))
	}
	return out
}

// proveClock requires that the offset of a clock is known well enough, and that it moved
// little during the load.
func proveClock(s Sensor, c iikanji.Clock) Sensor {
	unsure, drift := max(c.Before.Within(), c.After.Within()), c.Drift().Abs()
	s.Proofs = []Proof{
		{fmt.Sprintf("it is %v ahead, ± %v", c.Before.Offset.Round(10*time.Microsecond), unsure.Round(10*time.Microsecond)), fmt.Sprintf("± %v or less", mostUnsure), unsure <= mostUnsure},
		{fmt.Sprintf("it moved by %v during the load", drift.Round(10*time.Microsecond)), fmt.Sprintf("%v or less", mostDrift), drift <= mostDrift},
	}
	return s.settle(nil)
}
