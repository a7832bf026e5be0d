package bench

import (
	"context"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// How a browser gets a connection for a request and gives it back.

func cutFault(message string, cause error) *scenario.Fault {
	return &scenario.Fault{Kind: iikanji.FaultCut, Step: -1, Message: message, Cause: cause}
}

// perform sends the request of a call and reads the answer, on an idle
// connection, a new one, or the next that becomes free.
func (c *client) perform(k *call) error {
	if c.speaks() == scenario.Negotiated {
		if err := c.learn(k); err != nil {
			return err
		}
	}
	if c.speaks() == scenario.HTTP2 {
		return c.performH2(k)
	}
	cn, err := c.acquire(k.ctx)
	if err != nil {
		return err
	}
	c.begin(k)
	due := k.x.start + int64(k.limit)
	reused := cn != nil && cn.used > 0
	for {
		if cn == nil {
			if cn, err = c.connect(k.ctx, due); err != nil {
				c.release(nil)
				return err
			}
		}
		keep, err := c.attempt(k, cn, due)
		k.x.end = c.s.clock.now()
		if err == nil {
			if cn.idleSince = k.x.end; !keep {
				c.discard(cn)
				cn = nil
			}
			c.release(cn)
			return nil
		}
		c.discard(cn)
		cn = nil
		if !reused || !mayRetry(k, err) {
			c.release(nil)
			return err
		}
		reused = false // the retry uses a new connection, and there is only one
	}
}

// mayRetry reports whether a request that failed on a used connection may be
// sent again: the target closed the connection before any byte of an answer, and
// either nothing was sent or the method is idempotent (RFC 9110, 9.2.2).
func mayRetry(k *call, err error) bool {
	if err == errStale {
		return true
	}
	f, ok := err.(*scenario.Fault)
	return ok && f.Kind == iikanji.FaultClosed && k.res.reply.wire == 0 && (k.x.sent == 0 || idempotent(k.method))
}

// attempt tries the exchange on one connection. keep reports whether the
// connection can be used again.
func (c *client) attempt(k *call, cn *conn, due int64) (keep bool, err error) {
	cn.out, cn.rest = c.encode(cn.out[:0], k.r, k.method, k.entry)
	c.s.heads.add(c.id, cn.out)
	c.record(k, cn.out)
	size := int64(len(cn.out) + len(cn.rest))
	cn.check = cn.used > 0 && (!idempotent(k.method) || k.x.start-cn.idleSince > longIdle)
	k.res.reply.reset(k.method == "HEAD", c.maxBody)
	cn.writes.Store(!safe(k.method))
	cn.arm(due)
	select {
	case <-k.ctx.Done(): // checked after arm, so a cut is either seen here or interrupts the exchange
		cn.disarm(due)
		return false, c.cutBy(k)
	default:
	}
	if k.ctx.Done() != c.s.current().done {
		defer context.AfterFunc(k.ctx, func() {
			if !cn.writes.Load() || c.s.current().ctx.Err() == nil {
				cn.interrupt(stateCut)
			} // else closePhase gives the write its time
		})()
	}
	err = cn.exchange(k.res)
	k.x.sent = size
	if err != nil && cn.sent <= 0 {
		k.x.sent = 0
	}
	whole := cn.disarm(due)
	if err == nil && cn.writes.Load() && c.s.current().ctx.Err() != nil {
		return whole && k.res.reply.keep, c.cutBy(k) // answered after the end of the phase
	}
	if f, ok := err.(*scenario.Fault); ok && f.Kind == iikanji.FaultCut {
		return false, c.cutBy(k)
	}
	return whole && k.res.reply.keep, err
}

// cutBy returns the fault of a request whose context ended: a timeout if the
// scenario set the deadline, a cut otherwise.
func (c *client) cutBy(k *call) *scenario.Fault {
	cause := k.ctx.Err()
	if cause == context.DeadlineExceeded && c.s.current().ctx.Err() == nil {
		return &scenario.Fault{Kind: iikanji.FaultTimeout, Step: -1, Message: "the scenario's own deadline passed", Cause: cause}
	}
	return cutFault("cut off by the end of the phase", cause)
}

// connect opens a connection in a slot that the caller holds.
func (c *client) connect(ctx context.Context, due int64) (*conn, error) {
	cn, err := c.dial(ctx, due)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		c.s.dials.closed()
		cn.close()
		return nil, cutFault("the browser was closed", nil)
	}
	c.conns[cn] = struct{}{}
	return cn, nil
}

// acquire returns an idle connection, or nil and a slot for a new one. It waits
// while all of the browser's connections are busy.
func (c *client) acquire(ctx context.Context) (*conn, error) {
	c.mu.Lock()
	switch n := len(c.idle); {
	case c.closed:
		c.mu.Unlock()
		return nil, cutFault("the browser was closed", nil)
	case n > 0:
		cn := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return cn, nil
	case c.open < c.max:
		c.open++
		c.mu.Unlock()
		return nil, nil
	}
	turn := make(chan *conn, 1)
	c.waiting = append(c.waiting, turn)
	c.mu.Unlock()
	return c.wait(ctx, turn)
}

func (c *client) wait(ctx context.Context, turn chan *conn) (*conn, error) {
	select {
	case cn, ok := <-turn:
		if !ok {
			return nil, cutFault("the browser was closed", nil)
		}
		return cn, nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	for i, w := range c.waiting {
		if w == turn {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			break
		}
	}
	c.mu.Unlock()
	select {
	case cn, ok := <-turn: // the connection arrived at the same time: pass it on
		if ok {
			c.release(cn)
		}
	default:
	}
	return nil, cutFault("cut off while waiting for a connection", ctx.Err())
}

// discard closes a connection. The caller keeps its slot.
func (c *client) discard(cn *conn) {
	c.mu.Lock()
	delete(c.conns, cn)
	c.mu.Unlock()
	c.s.dials.closed()
	cn.close()
}

// release passes a slot and its connection, if there is one, to the next waiting
// request, or makes them idle.
func (c *client) release(cn *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		if cn != nil {
			delete(c.conns, cn)
			c.s.dials.closed()
			cn.close()
		}
	case len(c.waiting) > 0:
		c.waiting[0] <- cn
		c.waiting = c.waiting[1:]
	case cn != nil:
		c.idle = append(c.idle, cn)
	default:
		c.open--
	}
}

// cutReads interrupts the exchanges in flight that change nothing on the target,
// and reports whether others are left.
func (c *client) cutReads() (left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cn := range c.conns {
		switch {
		case !cn.writes.Load():
			cn.interrupt(stateCut)
		case cn.state.Load() > 0:
			left = true
		}
	}
	for _, cc := range c.h2 {
		left = cc.cutStreams(func(st *h2stream) bool { return !st.writes }) || left
	}
	return left
}

// cut interrupts every exchange in flight.
func (c *client) cut(why int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cn := range c.conns {
		cn.interrupt(why)
	}
	for _, cc := range c.h2 {
		if why == stateClosed {
			cc.quit(cutFault("the browser was closed", nil))
		} else {
			cc.cutStreams(func(*h2stream) bool { return true })
		}
	}
}

// Close implements scenario.Client.
func (c *client) Close() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	idle := c.idle
	c.idle = nil
	for _, turn := range c.waiting {
		close(turn)
	}
	c.waiting = nil
	for _, cn := range idle {
		delete(c.conns, cn)
	}
	c.mu.Unlock()
	for _, cn := range idle {
		c.s.dials.closed()
		cn.close()
	}
	c.cut(stateClosed)
	c.s.forget(c)
}
