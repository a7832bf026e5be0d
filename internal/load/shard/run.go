package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// patience is how long a generator may take for what is not the load: Prepare and Validate have
// limits of their own below it.
const patience = 5 * time.Minute

// startsAhead is how long before its begin the instant of the load is set.
const startsAhead = 3 * time.Second

// lastWords is how long generators have for what they measured, in a run that ends before its time.
const lastWords = 5 * time.Second

// Options are for Run.
type Options struct {
	Job // Part is set for each generator
	// Generators is how many generators there are, with the first one, which is this process.
	Generators int
	// Start starts generator n, from 1, and returns the stream to it. Close ends it.
	Start func(ctx context.Context, n int) (Conn, error)
	// First is for the generator in this process.
	First bench.Options
	// Ahead is how long before its begin the instant of the load is set; 0 for 3 s.
	Ahead time.Duration

	grace time.Duration // 0 for lastWords
}

// A Conn is the stream to a generator.
type Conn interface {
	io.Reader
	io.Writer
	// Close ends the generator, also one that does not answer.
	io.Closer
}

// Run makes one run with several generators. An error means that it could not start.
func Run(ctx context.Context, sc scenario.Scenario, o Options) (*iikanji.Run, error) {
	first := scenario.Part{Number: 0, Of: o.Generators}
	whole, ok := sc.(scenario.Shardable)
	if !ok {
		return nil, bench.ErrNotShardable
	}
	if err := whole.Shard(first); err != nil { // before a generator is started
		return nil, err
	}
	if o.Ahead == 0 {
		o.Ahead = startsAhead
	}
	if o.grace == 0 {
		o.grace = lastWords
	}
	x := &running{o: &o, group: newGroup(o.Generators, o.Ahead)}
	defer x.close()
	if err := x.begin(ctx); err != nil {
		return nil, err
	}
	m, err := bench.RunPart(ctx, sc, first, local{x.group}, o.First)
	if err != nil {
		return nil, err
	}
	x.keep(0, m)
	switch {
	case m.Began.IsZero(): // the target was not prepared
		x.end("the load did not begin", false)
	case ctx.Err() != nil:
		x.end("the run was interrupted", false)
	}
	x.await(ctx)
	loadTime := o.First.Load
	if loadTime == 0 {
		loadTime = sc.Info().Load
	}
	parts, why := x.parts(), x.lostWhy()
	if why == "" && !m.Cut && len(parts) < o.Generators { // a part that was cut may have had the reason
		why = x.ending()
	}
	return bench.Merge(sc.Info(), o.Seed, loadTime, parts, why)
}

// A running is a run with its generators.
type running struct {
	*group
	o     *Options
	all   sync.WaitGroup // of those who listen to generators
	conns []Conn
}

// begin starts the generators and gives them their jobs.
func (x *running) begin(ctx context.Context) error {
	for n := 1; n < x.o.Generators; n++ {
		conn, err := x.o.Start(ctx, n)
		if err != nil {
			return fmt.Errorf("starting generator %d: %w", n+1, err)
		}
		x.conns = append(x.conns, conn)
		j := x.o.Job
		j.Part = scenario.Part{Number: n, Of: x.o.Generators}
		s := newStream(conn, conn)
		if err := s.send(down{Job: &j}); err != nil {
			return fmt.Errorf("starting generator %d: %w", n+1, err)
		}
		x.all.Go(func() { x.serve(n, s, conn) })
	}
	return nil
}

// await waits for what the generators measured. Where the run ends before its time, they have a
// moment for it: one may not even have begun, as behind an ssh that asks for a password.
func (x *running) await(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		x.all.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-x.over:
	case <-ctx.Done():
		x.end("the run was interrupted", false)
	}
	timer := time.NewTimer(x.o.grace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		x.close()
	}
}

// close ends what is left of the generators.
func (x *running) close() {
	var ending sync.WaitGroup
	for _, c := range x.conns {
		ending.Go(func() { _ = c.Close() }) // its process is gone in any case
	}
	ending.Wait()
	x.all.Wait()
}

// serve answers a generator until it has measured its part, or is lost.
func (x *running) serve(n int, s *stream, conn Conn) {
	over := make(chan struct{})
	defer close(over)
	go x.pass(n, s, over)
	quiet := time.AfterFunc(patience, func() { x.lose(n, fmt.Errorf("no message for %v", patience), conn) })
	defer quiet.Stop()
	for {
		var u up
		if err := s.receive(&u); err != nil {
			x.lose(n, err, conn)
			return
		}
		quiet.Reset(patience)
		switch {
		case u.Measured != nil:
			u.Measured.Part = scenario.Part{Number: n, Of: x.o.Generators}
			x.keep(n, u.Measured)
			if u.Measured.Began.IsZero() {
				x.end(fmt.Sprintf("generator %d did not begin", n+1), false)
			}
			return
		case u.Error != "":
			x.lose(n, errors.New(u.Error), conn)
			return
		}
		if err := x.answer(n, s, &u); err != nil {
			x.lose(n, err, conn)
			return
		}
		if u.Counts != nil { // in the load it is heard often
			quiet.Reset(silence)
		}
	}
}

// answer answers one message.
func (x *running) answer(n int, s *stream, u *up) error {
	switch {
	case u.Ping:
		return s.send(down{Now: time.Now()})
	case u.Ready:
		x.isReady(n)
	case u.Loaded: // what follows is not heard for a while
	case u.Counts != nil:
		others, stop := x.exchange(n, *u.Counts)
		return s.send(down{Others: &others, Stop: stop})
	}
	return nil
}

// pass tells a generator that the target is prepared, when the load begins, and that the run ends
// before it.
func (x *running) pass(n int, s *stream, over <-chan struct{}) {
	steps := []struct {
		on  <-chan struct{}
		say func() down
	}{
		{x.prepared, func() down { return down{Prepared: true} }},
		{x.begun, func() down { return down{Start: x.begins()} }},
	}
	for _, step := range steps {
		select {
		case <-step.on:
			_ = s.send(step.say()) // a generator that is lost is noticed by what reads from it
		case <-x.over:
			_ = s.send(down{Stop: x.ending()})
			return
		case <-over:
			return
		}
	}
}

// lose notes that a generator is lost, and ends it.
func (x *running) lose(n int, err error, conn Conn) {
	if errors.Is(err, io.EOF) {
		err = errors.New("its stream ended")
	}
	x.end(fmt.Sprintf("generator %d was lost: %v", n+1, err), true)
	_ = conn.Close()
}
