// Package clock compares the clock of a host with that of this machine.
package clock

import (
	"context"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// exchanges is how many times the host is asked: of a few, one is rarely delayed at all.
const exchanges = 8

// Read asks a host for its time, several times, and returns the comparison of the exchange
// with the least round trip: its offset has the least error. now is this machine's clock.
func Read(ctx context.Context, h host.Host, now func() time.Time) (iikanji.ClockReading, error) {
	var best iikanji.ClockReading
	for i := range exchanges {
		asked := now()
		there, err := Task(time.Now).On(ctx, h, i)
		if err != nil {
			return best, fmt.Errorf("reading the clock of %s: %w", h.Name(), err)
		}
		trip := now().Sub(asked)
		if i == 0 || trip < best.Trip {
			middle := asked.Add(trip / 2)
			best = iikanji.ClockReading{At: middle.Round(0), Offset: there.Sub(middle.Round(0)), Trip: trip}
		}
	}
	return best, nil
}

// Task is the clock of a host. now is the clock of its far end.
func Task(now func() time.Time) host.Task[int, time.Time] {
	return host.Task[int, time.Time]{Name: "clock", Do: func(context.Context, host.Host, int) (time.Time, error) { return now().Round(0), nil }}
}
