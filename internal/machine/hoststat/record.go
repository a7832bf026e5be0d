package hoststat

import (
	"context"
	"errors"
	"fmt"
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
// sample, because a restarted service has new processes. Another host is sampled there, and
// its samples have the times of its clock.
func Record(h host.Host, now func() time.Time, every time.Duration, services func() []Service) (*Recorder, error) {
	if host.WorkerOf(h) != nil {
		return recordThere(h, every, services), nil
	}
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

// recordThere has the far end of a host sample it.
func recordThere(h host.Host, every time.Duration, services func() []Service) *Recorder {
	r := &Recorder{quit: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	r.done.Go(func() {
		defer cancel()
		err := samplesFeed().On(ctx, h, every, func() sampling { return sampling{every, services()} },
			func(s Sample) { r.samples = append(r.samples, s) })
		if err == nil && ctx.Err() == nil {
			err = errEnded
		}
		if err != nil && !errors.Is(err, context.Canceled) { // else it was stopped
			r.err = fmt.Errorf("sampling %s: %w", h.Name(), err)
		}
	})
	r.done.Go(func() {
		select {
		case <-r.quit:
			cancel()
		case <-ctx.Done():
		}
	})
	return r
}

var errEnded = errors.New("its samples have ended")

// Follow calls take with a sample of the host once an interval, until the context ends or the
// host is lost. Another host is sampled there, and its samples have the times of its clock.
func Follow(ctx context.Context, h host.Host, every time.Duration, take func(Sample)) error {
	err := samplesFeed().On(ctx, h, every, func() sampling { return sampling{Every: every} }, take)
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = errEnded
	}
	return fmt.Errorf("sampling %s: %w", h.Name(), err)
}

// A sampling is what the samples of a host are of.
type sampling struct {
	Every    time.Duration
	Services []Service
}

// sampleHere sends samples of this machine, as Record takes them.
func sampleHere(ctx context.Context, h host.Host, latest func() sampling, send func(Sample) error) error {
	s, err := NewSampler(h, time.Now())
	if err != nil {
		return err
	}
	tick := time.NewTicker(max(latest().Every, leastEvery))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		sample, err := s.Sample(time.Now(), latest().Services)
		if err != nil {
			return err
		}
		if err := send(*sample); err != nil {
			return err
		}
	}
}

// leastEvery is the shortest interval that another host is sampled in.
const leastEvery = 100 * time.Millisecond
