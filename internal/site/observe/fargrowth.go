package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A lookOrder names the logs of a machine that are looked at during the load, until Stop.
type lookOrder struct {
	Paths []string
	Stop  bool
}

// A lookResult has the looks at one log, in the form of lines.Growth.Points and in the
// times of the machine's clock.
type lookResult struct {
	Path   string
	Points [][3]int64
}

// looksFeed has the far end of a machine look at its logs: from here, each look would be a
// round trip.
func looksFeed() host.Feed[lookOrder, lookResult] {
	return host.Feed[lookOrder, lookResult]{Name: "looks", Run: lookThere}
}

func lookThere(ctx context.Context, h host.Host, latest func() lookOrder, send func(lookResult) error) error {
	var logs []*growingLog
	for _, path := range latest().Paths {
		logs = append(logs, &growingLog{host: h, path: path})
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		stop := latest().Stop // the last look is after the logs are complete
		for _, l := range logs {
			l.look()
		}
		if stop {
			for _, l := range logs {
				if err := send(lookResult{l.path, l.growth.Points()}); err != nil {
					return err
				}
			}
			return nil
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return ctx.Err()
}

// stopEvery is how often the far end hears whether the load has ended.
const stopEvery = 50 * time.Millisecond

// lastLooks is how long the looks of another machine may take to arrive.
const lastLooks = 5 * time.Second

// A farLooks is the looks at the logs of one other machine.
type farLooks struct {
	h    host.Host
	logs []*growingLog

	mu   sync.Mutex
	stop bool
	late bool // nobody waits for the looks any more
	done chan error
	end  context.CancelFunc
}

// add adds a log.
func (f *farLooks) add(path string) *growingLog {
	l := &growingLog{host: f.h, path: path}
	f.logs = append(f.logs, l)
	return l
}

func (f *farLooks) begin() {
	order := lookOrder{}
	for _, l := range f.logs {
		order.Paths = append(order.Paths, l.path)
	}
	ctx, end := context.WithCancel(context.Background())
	f.done, f.end, f.stop, f.late = make(chan error, 1), end, false, false
	go func() {
		f.done <- looksFeed().On(ctx, f.h, stopEvery, func() lookOrder {
			f.mu.Lock()
			defer f.mu.Unlock()
			order.Stop = f.stop
			return order
		}, func(r lookResult) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, l := range f.logs {
				if l.path == r.Path && !f.late {
					l.growth = *lines.GrowthOf(r.Points)
				}
			}
		})
	}()
}

var errNoLooks = errors.New("its lengths during the load did not arrive")

// finish has the last looks made, and waits for all of them. Without them the records of
// the logs are placed by their timestamps.
func (f *farLooks) finish() {
	f.mu.Lock()
	f.stop = true
	f.mu.Unlock()
	defer f.end()
	err := errNoLooks
	select {
	case err = <-f.done:
	case <-time.After(lastLooks):
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = true
	for _, l := range f.logs {
		if err != nil {
			l.err = err
		}
	}
}
