package observe

import (
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/machine/host"
)

const (
	// lookEvery is how often the lengths of logs are looked at. A look costs some
	// microseconds. bench/join measures what the interval is worth: with 20 ms, few
	// statements of short requests can be told apart.
	lookEvery = 2 * time.Millisecond
	// The load is cut into ticks of tickStep; of longer ones where that would be
	// more than maxTicks.
	tickStep = 50 * time.Millisecond
	maxTicks = 1500
)

// A growthWatch notes how logs grow during the load: those of this machine, and through
// their far ends those of others. Timestamps
// in logs are mostly whole seconds, which are too coarse to find the route that
// sends a statement.
// Its clock is the one that the services write into their logs.
type growthWatch struct {
	logs         []*growingLog
	far          []*farLooks
	began, ended time.Time
	stop         chan struct{}
	done         sync.WaitGroup
}

// A growingLog is one watched log.
type growingLog struct {
	host   host.Host
	path   string
	growth lines.Growth
	err    error // of a log of another machine whose looks did not arrive
}

// watch adds a log. A log of a host without a far end is not watched: each look would be
// a round trip.
func (w *growthWatch) watch(h host.Host, path string) *growingLog {
	if path == "" {
		return nil
	}
	if host.WorkerOf(h) != nil {
		return w.watchThere(h, path)
	}
	if h.Name() != "" {
		return nil
	}
	l := &growingLog{host: h, path: path}
	w.logs = append(w.logs, l)
	return l
}

// watchThere adds a log of another machine.
func (w *growthWatch) watchThere(h host.Host, path string) *growingLog {
	for _, f := range w.far {
		if f.h.Name() == h.Name() {
			return f.add(path)
		}
	}
	f := &farLooks{h: h}
	w.far = append(w.far, f)
	return f.add(path)
}

func (w *growthWatch) begin() {
	for _, f := range w.far {
		f.begin()
	}
	stop := make(chan struct{})
	w.began = time.Now()
	w.stop = stop
	w.done.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			for _, l := range w.logs {
				l.look()
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
}

// end looks at the logs once more, when they are complete.
func (w *growthWatch) end() {
	if w.stop == nil {
		return
	}
	w.ended = time.Now()
	close(w.stop)
	w.stop = nil
	var others sync.WaitGroup
	for _, f := range w.far {
		others.Go(f.finish)
	}
	w.done.Wait()
	others.Wait()
	for _, l := range w.logs {
		l.look()
	}
}

// look notes the length of the log. A log that cannot be read now has no point.
func (l *growingLog) look() {
	asked := time.Now()
	if n, err := size(l.host, l.path); err == nil {
		l.growth.Note(n, asked.UnixNano(), time.Now().UnixNano())
	}
}

// window is the load, cut into ticks, with the growth of a log. l is nil for a log
// that is not watched: its records are placed by their timestamps.
func (o *Observer) window(l *growingLog) *tally.Window {
	began := o.growth.began
	took := o.growth.ended.Sub(began)
	step := max(tickStep, (took/maxTicks + time.Millisecond).Truncate(time.Millisecond))
	w := &tally.Window{From: began, Step: step, N: int(took/step) + 1}
	if l != nil {
		w.Written = l.growth.Written
	}
	return w
}
