package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/scenario"
)

// parseURL reads a base URL: scheme and host, nothing else.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("reading the URL %q: %w", s, err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("reading the URL %q: it must begin with http:// or https://", s)
	case u.Hostname() == "":
		return nil, fmt.Errorf("reading the URL %q: there is no host in it", s)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("reading the URL %q: only scheme, host and port are wanted", s)
	}
	return u, nil
}

// dial makes a connection within the time left until due.
func (c *client) dial(ctx context.Context, due int64) (*conn, error) {
	c.s.dials.tried.Add(1)
	ctx, cancel := context.WithDeadline(ctx, c.s.clock.time(due))
	defer cancel()
	// Keep-alive probes are of no use within a run and cost three system calls.
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: false}, KeepAlive: -1}
	nc, err := d.DialContext(ctx, "tcp", c.addr)
	if err == nil && c.tls != nil {
		secure := tls.Client(nc, c.tls)
		if err = secure.HandshakeContext(ctx); err != nil {
			_ = nc.Close() // the handshake's error is the one to tell
		}
		nc = secure
	}
	if err != nil {
		return nil, c.s.dials.explain(err)
	}
	c.s.dials.opened()
	return newConn(c.s.clock, nc), nil
}

// explain makes a fault of a connection that could not be made and counts it.
func (d *dials) explain(err error) *scenario.Fault {
	f := &scenario.Fault{Kind: iikanji.FaultDial, Step: -1, Message: plainError(err), Cause: err}
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		f.Kind, f.Message = iikanji.FaultCut, "cut off while connecting"
		return f
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f.Kind, f.Message = iikanji.FaultTimeout, "no connection in time"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		d.noPort.Add(1)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		d.noFile.Add(1)
	}
	d.faults.Add(1)
	return f
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
