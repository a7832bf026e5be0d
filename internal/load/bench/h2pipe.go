package bench

import (
	"context"
	"io"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A pipe is a scenario.Stream. Its fields are guarded by the connection's lock.
type pipe struct {
	c    *client
	k    call
	req  scenario.Request
	st   *h2stream
	stop func() bool // of the cut by the context

	news   chan struct{} // the answer has changed, or the stream is over
	room   chan struct{} // the body that waited was sent, or the stream is over
	pos    int           // of the reader in the answer's buffer
	closed bool
}

var _ scenario.Stream = (*pipe)(nil)

// Open implements scenario.Client.
func (c *client) Open(ctx context.Context, r *scenario.Request) (scenario.Stream, error) {
	p := &pipe{c: c, req: *r, news: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	p.k = call{ctx: ctx, r: &p.req, method: firstOf(r.Method, "GET"), limit: firstOf(r.Timeout, c.timeout)}
	p.k.x = exchange{step: r.Step, client: c.id, quiet: r.Quiet}
	k := &p.k
	if err := c.accept(k); err != nil {
		return nil, c.fail(k, err)
	}
	if err := p.begin(); err != nil {
		return nil, c.fail(k, err)
	}
	p.req.Header = nil // the caller may use its memory again
	return p, nil
}

// begin sends the request's header.
func (p *pipe) begin() error {
	c, k := p.c, &p.k
	if c.speaks() == scenario.Negotiated {
		if err := c.learn(k); err != nil {
			return err
		}
	}
	switch {
	case c.speaks() != scenario.HTTP2:
		return protocol("a stream needs HTTP/2, and the target speaks HTTP/1.1")
	case len(p.req.Body) > 0:
		return protocol("a stream's request has a body of its own")
	}
	k.res = c.s.pool.get()
	p.st = &k.res.h2
	if err := c.startH2(k, p.st, p); err != nil {
		return err
	}
	p.stop = c.cutWith(k, p.st)
	return nil
}

// changed wakes those who wait for the stream.
func (p *pipe) changed() {
	signal(p.news)
	if p.st.over {
		signal(p.room)
	}
}

// sent wakes the sender.
func (p *pipe) sent() { signal(p.room) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// await waits for a signal. The lock is free meanwhile.
func (p *pipe) await(c chan struct{}) {
	p.st.cc.mu.Unlock()
	<-c
	p.st.cc.mu.Lock()
}

// Send implements scenario.Stream.
func (p *pipe) Send(b []byte, last bool) error {
	st, cc := p.st, p.st.cc
	cc.mu.Lock()
	defer cc.mu.Unlock()
	switch {
	case st.over || p.closed:
		return p.fault()
	case st.sentAll:
		panic("BUG: Send after the last part")
	case p.k.ctx.Err() != nil && len(b) > 0:
		return p.describe(p.c.cutBy(&p.k)) // no new turn after the end of the phase
	case len(b) == 0 && !last:
		return nil
	}
	if len(b) > 0 {
		st.writes = true // until something of the answer is read
	}
	st.body, st.lastPart = b, last
	cc.queue(st)
	for st.queued {
		if !cc.reading {
			cc.flush()
		}
		if st.queued {
			p.await(p.room)
		}
	}
	if !cc.reading {
		cc.flush()
	}
	return p.fault()
}

// fault returns the fault of a stream that is over.
func (p *pipe) fault() error {
	switch f := p.st.fault; {
	case p.closed:
		return p.describe(cutFault("the stream was closed", nil))
	case f == nil:
		return nil
	case f.Kind == iikanji.FaultCut:
		return p.describe(p.c.cutBy(&p.k))
	default:
		own := *f
		return p.describe(&own)
	}
}

// describe adds the step and the request to a fault. Close counts it.
func (p *pipe) describe(f *scenario.Fault) *scenario.Fault {
	f.Step, f.Counted = p.req.Step, true
	f.Example = &iikanji.Example{Request: p.k.method + " " + p.req.Path, Status: p.k.res.reply.status}
	if f.Kind == iikanji.FaultTimeout && f.Message == "" {
		f.Message = "the stream was not over within " + p.k.limit.String()
	}
	return f
}

// Head implements scenario.Stream.
func (p *pipe) Head() (*scenario.Response, error) {
	st := p.st
	st.cc.mu.Lock()
	defer st.cc.mu.Unlock()
	for !st.headed && !st.over && !p.closed {
		p.await(p.news)
	}
	if !st.headed || p.closed {
		return nil, p.fault()
	}
	return p.response(), nil
}

// response fills in what of the answer is known.
func (p *pipe) response() *scenario.Response {
	res := p.k.res
	if res.Method == "" {
		res.Step, res.Method, res.Path, res.Protocol = p.req.Step, p.k.method, p.req.Path, scenario.HTTP2
		res.Status, res.Fields = res.reply.status, res.reply.fields
		p.pos = res.reply.body
	}
	return &res.Response
}

// Read implements scenario.Stream.
func (p *pipe) Read(b []byte) (int, error) {
	st := p.st
	st.cc.mu.Lock()
	defer st.cc.mu.Unlock()
	for {
		if p.closed {
			return 0, p.fault()
		}
		if st.headed {
			p.response()
			if n := p.take(b); n > 0 || len(b) == 0 {
				return n, p.late()
			}
		}
		if st.over {
			if err := p.fault(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		p.await(p.news)
	}
}

// late returns the cut of an answer that came after the end of the phase.
func (p *pipe) late() error {
	if p.k.ctx.Err() != nil {
		return p.describe(p.c.cutBy(&p.k))
	}
	return nil
}

// take copies what has arrived, and lets the target send as much again.
func (p *pipe) take(b []byte) int {
	r := &p.k.res.reply
	n := copy(b, r.buf[p.pos:r.end])
	if n == 0 {
		return 0
	}
	st, cc := p.st, p.st.cc
	st.writes = false
	if p.pos += n; st.over {
		return n
	}
	if p.pos == r.end { // nothing is kept
		r.buf, r.end, p.pos = r.buf[:r.body], r.body, r.body
	}
	if cc.grant(st, int64(n)); !cc.reading {
		cc.flush()
	}
	return n
}

// End implements scenario.Stream.
func (p *pipe) End() (*scenario.Response, error) {
	var drop [4 << 10]byte
	for {
		_, err := p.Read(drop[:])
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	p.st.cc.mu.Lock()
	defer p.st.cc.mu.Unlock()
	res := p.response()
	res.Trailers, res.Wire = p.k.res.trailers, p.k.res.reply.wire
	return res, nil
}

// Count implements scenario.Stream.
func (p *pipe) Count(t *scenario.Turn) {
	if int(t.Step) < 0 || int(t.Step) >= len(p.c.shard.steps) {
		panic("BUG: the turn's step is not in the scenario's Info")
	}
	p.st.cc.mu.Lock()
	status := p.k.res.reply.status
	p.st.cc.mu.Unlock()
	x := exchange{step: t.Step, client: p.c.id, start: p.c.s.clock.at(t.Start), end: p.c.s.clock.at(t.End),
		status: status, sent: t.Sent, received: t.Received, fault: t.Fault, quiet: p.req.Quiet}
	if x.due = x.start; !t.Due.IsZero() {
		x.due = p.c.s.clock.at(t.Due)
	}
	p.c.shard.record(&x, p.c.s.phaseNumber())
}

// Close implements scenario.Stream.
func (p *pipe) Close() {
	st, cc := p.st, p.st.cc
	p.stop()
	cc.mu.Lock()
	if p.closed {
		cc.mu.Unlock()
		return
	}
	if !st.over {
		cc.abandon(st, nil, p.c.s.clock.now())
		cc.after()
	}
	p.closed = true
	x := &p.k.x
	x.end, x.sent, x.received, x.status = st.end, st.sent, p.k.res.reply.wire, p.k.res.reply.status
	if st.fault != nil {
		x.fault = st.fault.Kind
	}
	p.changed()
	signal(p.room)
	cc.mu.Unlock()
	p.c.shard.record(x, p.c.s.phaseNumber())
}
