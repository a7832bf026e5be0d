package bench

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// How a browser and its target agree on the version of HTTP (ALPN, RFC 7301).

const (
	alpnH1 = "http/1.1"
	alpnH2 = "h2"
)

// offers returns what a client offers in the TLS handshake.
func offers(p scenario.Protocol) []string {
	switch p {
	case scenario.HTTP1:
		return []string{alpnH1}
	case scenario.HTTP2:
		return []string{alpnH2}
	}
	return []string{alpnH2, alpnH1}
}

// speaks returns the version that the browser speaks, and Negotiated as long as that
// is not known.
func (c *client) speaks() scenario.Protocol { return scenario.Protocol(c.protocol.Load()) }

// settle sets the version, for this browser and those that come after it: like
// requests of one browser, they need not wait for the first handshake.
func (c *client) settle(p scenario.Protocol) {
	if c.speaks() != scenario.Negotiated {
		return
	}
	c.s.spoken.Store(c.addr, p)
	config := c.tls.Clone()
	config.NextProtos = offers(p)
	c.tls = config
	c.protocol.Store(uint32(p))
}

// learn finds out which version the target speaks: it dials, and the connection is
// used afterwards.
func (c *client) learn(k *call) error {
	for c.speaks() == scenario.Negotiated {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return cutFault("the browser was closed", nil)
		}
		if c.speaks() != scenario.Negotiated {
			c.mu.Unlock()
			return nil
		}
		if err := c.dialShared(k); err != nil {
			return err
		}
	}
	return nil
}

// dialShared dials for a request, or waits while another request does. It is called
// with the browser's lock held and frees it.
func (c *client) dialShared(k *call) error {
	c.begin(k)
	due := k.x.start + int64(k.limit)
	if other := c.dialing; other != nil {
		c.mu.Unlock()
		ctx, cancel := context.WithDeadline(k.ctx, c.s.clock.time(due))
		defer cancel()
		select {
		case <-other:
			return nil
		case <-ctx.Done():
			if k.ctx.Err() != nil {
				return c.cutBy(k)
			}
			return c.s.dials.asFault(ctx.Err())
		}
	}
	over := make(chan struct{})
	c.dialing = over
	config := c.tls
	c.mu.Unlock()
	nc, w, err := c.connectTo(k.ctx, due, config)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dialing = nil
	close(over)
	if err != nil {
		return err
	}
	return c.adopt(nc, w)
}

// adopt takes a new connection into use. It is called with the browser's lock held.
func (c *client) adopt(nc net.Conn, w *wire) error {
	p := scenario.HTTP1
	if w != nil {
		p = scenario.HTTP2
	}
	c.settle(p)
	if c.closed {
		c.s.dials.closed()
		_ = nc.Close() // it was not used
		return cutFault("the browser was closed", nil)
	}
	if w != nil {
		cc := newH2conn(c, w)
		c.h2 = append(c.h2, cc)
		go cc.read()
		return nil
	}
	cn := newConn(c.s.clock, nc)
	c.conns[cn] = struct{}{}
	c.open++
	c.idle = append(c.idle, cn)
	return nil
}

// connectTo opens a connection in the time left until due. w is that of an HTTP/2
// connection, nil for HTTP/1.1.
func (c *client) connectTo(ctx context.Context, due int64, config *tls.Config) (nc net.Conn, w *wire, err error) {
	c.s.dials.tried.Add(1)
	ctx, cancel := context.WithDeadline(ctx, c.s.clock.time(due))
	defer cancel()
	// Keep-alive probes are useless within a run and cost three system calls.
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: false}, KeepAlive: -1}
	nc, err = d.DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return nil, nil, c.s.dials.asFault(err)
	}
	if config == nil {
		if c.speaks() == scenario.HTTP2 {
			w = newWire(nc)
		}
		c.s.dials.opened()
		return nc, w, nil
	}
	between := &side{Conn: nc}
	secure := tls.Client(between, config)
	if err = secure.HandshakeContext(ctx); err == nil {
		err = c.chosen(secure.ConnectionState().NegotiatedProtocol)
	}
	if err != nil {
		_ = nc.Close() // the handshake's error is reported
		return nil, nil, c.s.dials.asFault(err)
	}
	c.s.dials.opened()
	if secure.ConnectionState().NegotiatedProtocol != alpnH2 {
		return secure, nil, nil
	}
	w = newWire(nc)
	w.tls, between.wire = secure, w
	return nc, w, nil
}

// chosen checks what the target has chosen of the offers.
func (c *client) chosen(alpn string) error {
	if c.speaks() == scenario.HTTP2 && alpn != alpnH2 {
		return errNoH2
	}
	return nil
}
