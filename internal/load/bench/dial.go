package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// parseURL reads a base URL, which may have a scheme, a host and a port only.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("reading the URL %q: %w", s, err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("reading the URL %q: it must begin with http:// or https://", s)
	case u.Hostname() == "":
		return nil, fmt.Errorf("reading the URL %q: it has no host", s)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("reading the URL %q: only scheme, host and port are allowed", s)
	}
	return u, nil
}

// errNoH2 is that of a target which was asked for HTTP/2 only.
var errNoH2 = errors.New("the target does not speak HTTP/2 (ALPN h2)")

// dial opens a connection of HTTP/1.1 in the time left until due.
func (c *client) dial(ctx context.Context, due int64) (*conn, error) {
	c.mu.Lock()
	config := c.tls
	c.mu.Unlock()
	nc, _, err := c.connectTo(ctx, due, config)
	if err != nil {
		return nil, err
	}
	return newConn(c.s.clock, nc), nil
}

// asFault makes a fault from a failed dial and counts it.
func (d *dials) asFault(err error) *scenario.Fault {
	f := &scenario.Fault{Kind: iikanji.FaultDial, Step: -1, Message: plainError(err), Cause: err}
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		f.Kind, f.Message = iikanji.FaultCut, "cut off while connecting"
		return f
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f.Kind, f.Message = iikanji.FaultTimeout, "no connection in time"
	}
	d.failed(err)
	return f
}

// failed counts a failed dial, and whether the generator's own limits were the reason.
func (d *dials) failed(err error) {
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		d.noPort.Add(1)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		d.noFile.Add(1)
	}
	d.faults.Add(1)
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
