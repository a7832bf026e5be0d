package hoststat

import (
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Recorder samples in the background, once an interval, until it is stopped.
type Recorder struct {
	now      func() time.Time
	services func() []Service

	quit    chan struct{}
	once    sync.Once
	done    sync.WaitGroup
	samples []Sample // owned by the loop until done is closed
	err     error
}

// Record begins the first interval now. services is called for each
// sample, because a restarted service has new processes.
func Record(h host.Host, now func() time.Time, every time.Duration, services func() []Service) (*Recorder, error) {
	s, err := NewSampler(h, now())
	if err != nil {
		return nil, err
	}
	r := &Recorder{now: now, services: services, quit: make(chan struct{})}
	r.done.Go(func() { r.run(s, every) })
	return r, nil
}

func (r *Recorder) run(s *Sampler, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-r.quit:
			return
		case <-tick.C:
		}
		sample, err := s.Sample(r.now(), r.services())
		if err != nil {
			r.err = err
			return
		}
		r.samples = append(r.samples, *sample)
	}
}

// Stop ends the sampling and returns the samples of whole intervals, with the
// error that ended it earlier, if one did. It may be called again.
func (r *Recorder) Stop() ([]Sample, error) {
	r.once.Do(func() { close(r.quit) })
	r.done.Wait()
	return r.samples, r.err
}
