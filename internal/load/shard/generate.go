package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	roundTrips = 8
	// silence is how long a generator waits for an answer in the load, and the first one for
	// a message of it: the other is lost then. It stops its own load at once.
	silence = 3 * time.Second
)

// A StoppedError is a run that the first generator ended before its load, which says why itself.
type StoppedError struct{ Why string }

func (e *StoppedError) Error() string { return e.Why }

// A Make makes the benchmarker of a job.
type Make func(ctx context.Context, j *Job) (scenario.Scenario, bench.Options, error)

// Generate is a generator on a stream, for one run. It returns when the run has ended, or the
// stream has.
func Generate(ctx context.Context, in io.Reader, out io.Writer, version string, make Make) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newStream(in, out)
	var first down
	if err := s.receive(&first); err != nil {
		return fmt.Errorf("waiting for a job: %w", err)
	}
	if first.Job == nil {
		return errors.New("the first message is no job")
	}
	m, err := generate(ctx, s, first.Job, version, make)
	if err != nil {
		return errors.Join(err, s.send(up{Error: err.Error()}))
	}
	return s.send(up{Measured: m})
}

func generate(ctx context.Context, s *stream, j *Job, version string, make Make) (*bench.Measured, error) {
	if j.Version != version {
		return nil, fmt.Errorf("it runs version %s, the first generator %s", version, j.Version)
	}
	sc, o, err := make(ctx, j)
	if err != nil {
		return nil, err
	}
	r := newRemote(s)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go r.listen(cancel)
	if err := r.measureClock(ctx); err != nil {
		return nil, fmt.Errorf("comparing the clocks: %w", err)
	}
	m, err := bench.RunPart(ctx, sc, j.Part, r, o)
	if err == nil && !m.Began.IsZero() {
		m.Began = m.Began.Add(r.offset)
	}
	return m, err
}

// A remote is the link of a generator that is another process than the first.
type remote struct {
	*stream
	offset time.Duration // of the first generator's clock

	times    chan time.Time
	prepared chan struct{}
	starts   chan time.Time
	others   chan down
	ended    chan struct{} // closed when nothing comes any more
	err      error         // valid after ended
}

func newRemote(s *stream) *remote {
	return &remote{stream: s, times: make(chan time.Time, 1), prepared: make(chan struct{}), starts: make(chan time.Time, 1), others: make(chan down, 1), ended: make(chan struct{})}
}

// listen takes messages until the stream ends or a message is none of these; then the generator
// stops.
func (r *remote) listen(stop func()) {
	defer stop()
	defer close(r.ended)
	ready := false
	for {
		var d down
		if r.err = r.receive(&d); r.err != nil {
			return
		}
		switch {
		case d.Prepared && !ready:
			ready = true
			close(r.prepared)
		case !d.Now.IsZero():
			put(r.times, d.Now)
		case !d.Start.IsZero():
			put(r.starts, d.Start)
		case d.Others != nil:
			put(r.others, d)
		case d.Stop != "":
			r.err = &StoppedError{d.Stop}
			return
		}
	}
}

// put keeps the latest value.
func put[T any](c chan T, v T) {
	select {
	case <-c:
	default:
	}
	c <- v
}

// await waits for a value.
func await[T any](ctx context.Context, r *remote, c <-chan T, limit time.Duration) (v T, err error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case v = <-c:
		return v, nil
	case <-r.ended:
		return v, fmt.Errorf("the first generator: %w", r.err)
	case <-timer.C:
		return v, fmt.Errorf("no answer of the first generator for %v", limit)
	case <-ctx.Done():
		return v, ctx.Err()
	}
}

// measureClock finds how far the first generator's clock is ahead, by the fastest round trip.
func (r *remote) measureClock(ctx context.Context) error {
	best := time.Duration(-1)
	for range roundTrips {
		sent := time.Now()
		if err := r.send(up{Ping: true}); err != nil {
			return err
		}
		at, err := await(ctx, r, r.times, patience)
		if err != nil {
			return err
		}
		if trip := time.Since(sent); best < 0 || trip < best {
			best, r.offset = trip, at.Sub(sent.Add(trip/2))
		}
	}
	return nil
}

// Prepared implements bench.Link.
func (r *remote) Prepared(ctx context.Context) error {
	_, err := await(ctx, r, r.prepared, patience)
	return err
}

// Ready implements bench.Link.
func (r *remote) Ready(ctx context.Context) (time.Time, error) {
	if err := r.send(up{Ready: true}); err != nil {
		return time.Time{}, err
	}
	at, err := await(ctx, r, r.starts, patience)
	return at.Add(-r.offset), err
}

// Exchange implements bench.Link.
func (r *remote) Exchange(ctx context.Context, own bench.Counts) (bench.Counts, string, error) {
	if err := r.send(up{Counts: &own}); err != nil {
		return bench.Counts{}, "", err
	}
	d, err := await(ctx, r, r.others, silence)
	if err != nil {
		return bench.Counts{}, "", err
	}
	return *d.Others, d.Stop, nil
}

// Loaded implements bench.Link.
func (r *remote) Loaded() {
	_ = r.send(up{Loaded: true}) // a stream that has ended is noticed by listen
}
