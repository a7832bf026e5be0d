package bench

import (
	"context"
	"net/http"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// How a browser finds a stream for a request over HTTP/2, and repeats a request
// that the target did not process.

// maxTries limits how often one request is sent over HTTP/2.
const maxTries = 3

// begin sets the start of an exchange, once: before it dials, or sends.
func (c *client) begin(k *call) {
	if k.x.start != 0 {
		return
	}
	k.x.start = c.s.clock.now()
	k.x.due = k.x.start
	if !k.r.Due.IsZero() {
		k.x.due = c.s.clock.at(k.r.Due)
	}
}

// performH2 sends the request of a call on a stream and waits for the answer.
func (c *client) performH2(k *call) error {
	st := &k.res.h2
	for try := 1; ; try++ {
		if err := c.startH2(k, st, nil); err != nil {
			return err
		}
		stop := c.cutWith(k, st)
		<-st.done
		stop()
		k.x.end, k.x.sent = st.end, st.sent
		over := c.s.current().ctx.Err() != nil
		f := st.fault
		switch {
		case f == nil && st.writes && over:
			return c.cutBy(k) // answered after the end of the phase
		case f == nil:
			return nil
		case f.Kind == iikanji.FaultCut:
			return c.cutBy(k)
		case try == maxTries || over || !mayRepeat(k, st, try):
			return f
		}
		if st.unprocessed {
			c.s.repeated.Add(1)
		}
	}
}

// mayRepeat reports whether a request that failed may be sent again: the target said
// that it did not process it (RFC 9113, 8.7), or the connection was closed without an
// answer and an idempotent request was not the first on it, as with HTTP/1.1.
func mayRepeat(k *call, st *h2stream, try int) bool {
	if st.unprocessed {
		return true
	}
	return st.fault.Kind == iikanji.FaultClosed && st.cc.isDead() && st.id > 1 && try == 1 &&
		k.res.reply.wire == 0 && idempotent(k.method)
}

// startH2 sends a request on a stream of the browser's connections. p is that of a
// scenario.Stream, nil for a request that is sent whole.
func (c *client) startH2(k *call, st *h2stream, p *pipe) error {
	for {
		cc, err := c.pickH2(k)
		if err != nil {
			return err
		}
		if err := c.fits(k, cc); err != nil {
			return err
		}
		err = c.sendH2(k, st, p, cc, false)
		if err == errFull {
			if err = cc.wait(k); err == nil {
				err = c.sendH2(k, st, p, cc, true)
			}
		}
		switch {
		case err == errGone:
			c.dropH2(cc)
		case err != nil:
			return err
		default:
			return nil
		}
	}
}

// sendH2 begins the exchange on a connection.
func (c *client) sendH2(k *call, st *h2stream, p *pipe, cc *h2conn, reserved bool) error {
	c.begin(k)
	k.res.reply.reset(k.method == http.MethodHead, c.maxBody)
	k.res.trailers = k.res.trailers[:0]
	st.reset(k.res, c.s.clock.now(), k.x.start+int64(k.limit))
	st.body, st.lastPart, st.piped, st.writes = k.r.Body, p == nil, p, !safe(k.method)
	if c.s.heads != nil || c.s.o.Requests != nil {
		head, _ := c.encode(nil, k.r, k.method, k.entry)
		c.s.heads.add(c.id, head)
		c.record(k, head)
	}
	return cc.start(k, st, reserved)
}

// fits rejects a request whose header is larger than the target accepts.
func (c *client) fits(k *call, cc *h2conn) error {
	for i := range k.r.Header {
		switch f := &k.r.Header[i]; len(f.Name) {
		case len("upgrade"), len("keep-alive"), len("proxy-connection"):
			if isOneOf(f.Name, "upgrade", "keep-alive", "proxy-connection") {
				return protocol("header field %s over HTTP/2", f.Name)
			}
		}
	}
	if limit := cc.listLimit(); limit >= 0 && listSize(k.r) > limit {
		return protocol("the request's header is larger than the target's limit of %d bytes", limit)
	}
	return nil
}

// cutWith cuts the stream when the context of the request ends. The end of the
// phase does so itself, unless it came before the stream was there.
func (c *client) cutWith(k *call, st *h2stream) (stop func() bool) {
	cc, id := st.cc, st.id
	if k.ctx.Done() == c.s.current().done {
		if k.ctx.Err() != nil {
			cc.cutStream(id, true)
		}
		return never
	}
	return context.AfterFunc(k.ctx, func() {
		// At the end of the phase closePhase gives a write its time.
		cc.cutStream(id, c.s.current().ctx.Err() == nil)
	})
}

func never() bool { return false }

// pickH2 returns a connection that takes streams, and dials one if there is none or
// if all are full and more are allowed.
func (c *client) pickH2(k *call) (*h2conn, error) {
	for {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return nil, cutFault("the browser was closed", nil)
		}
		cc, full := c.leastH2(!idempotent(k.method))
		if cc != nil && (!full || len(c.h2) >= c.maxH2) {
			c.mu.Unlock()
			return cc, nil
		}
		if err := c.dialShared(k); err != nil {
			return nil, err
		}
	}
}

// leastH2 returns the connection with the fewest streams, and whether it is full.
// Connections that take no more streams are dropped from the list. It is called with
// the browser's lock held. careful tests whether an idle connection was closed.
func (c *client) leastH2(careful bool) (least *h2conn, full bool) {
	kept := c.h2[:0]
	best := 0
	for _, cc := range c.h2 {
		load, room := cc.load(careful)
		if load < 0 {
			continue
		}
		kept = append(kept, cc)
		if least == nil || load < best {
			least, best, full = cc, load, !room
		}
	}
	clear(c.h2[len(kept):])
	c.h2 = kept
	return least, full
}

// load returns the number of streams in use, -1 if the connection takes no more, and
// whether there is room for another.
func (cc *h2conn) load(careful bool) (n int, room bool) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	n = len(cc.streams) + cc.reserved
	if careful && n == 0 && !cc.dead && cc.nextID > 1 && cc.wire.closed() {
		cc.draining = true
		cc.after()
	}
	if cc.dead || cc.draining {
		return -1, false
	}
	return n + len(cc.turns), n < cc.peer.streams
}

func (cc *h2conn) isDead() bool {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	return cc.dead
}

// listLimit is the target's limit of header lists, -1 for none.
func (cc *h2conn) listLimit() int64 {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	return cc.peer.maxList
}

// wait waits until a stream is promised. It returns errGone when the connection
// takes no more, and a fault when the request's context or its time ends: a target may
// allow no stream at all.
func (cc *h2conn) wait(k *call) error {
	turn := make(chan bool, 1)
	cc.mu.Lock()
	cc.turns = append(cc.turns, turn)
	cc.giveTurn()
	cc.mu.Unlock()
	late := time.NewTimer(time.Duration(k.x.start + int64(k.limit) - cc.clock.now()))
	defer late.Stop()
	var why *scenario.Fault
	select {
	case promised := <-turn:
		if !promised {
			return errGone
		}
		return nil
	case <-k.ctx.Done():
		why = cutFault("cut off while waiting for a stream", k.ctx.Err())
	case <-late.C:
		why = &scenario.Fault{Kind: iikanji.FaultTimeout, Step: -1, Cause: errTimeout,
			Message: "no stream was free within " + k.limit.String()}
	}
	cc.leave(turn)
	return why
}

// leave gives up the place of a request that waited for its turn.
func (cc *h2conn) leave(turn chan bool) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	for i, t := range cc.turns {
		if t == turn {
			cc.turns = append(cc.turns[:i], cc.turns[i+1:]...)
			return
		}
	}
	if promised := <-turn; promised { // at the same time: pass it on
		cc.reserved--
		cc.giveTurn()
		cc.after()
	}
}

// dropH2 forgets a connection that takes no more streams.
func (c *client) dropH2(cc *h2conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, o := range c.h2 {
		if o == cc {
			c.h2 = append(c.h2[:i], c.h2[i+1:]...)
			break
		}
	}
}
