package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path"
	"sync"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Peer is a host behind a connection. It is safe for concurrent use.
type Peer struct {
	name    string
	welcome welcome
	web     *http.Transport
	ctx     context.Context // until Close, or until the connection is lost
	lose    context.CancelCauseFunc
	conn    net.Conn
}

var _ host.Host = (*Peer)(nil)

// A Setup is what a near end asks for.
type Setup struct {
	// Name is the host's name in messages and the history.
	Name string
	// Folders may be written, with all below; none: nothing may.
	Folders []string
	// Claim says for whom they are written; empty: nobody is refused.
	Claim Claim
	// Options has the times of the pings.
	Options Options
}

// Connect begins the calls on a connection to Serve. The error wraps ErrHeld while
// another near end may write there.
func Connect(ctx context.Context, conn net.Conn, s Setup) (*Peer, error) {
	p := &Peer{name: s.Name, conn: conn}
	p.ctx, p.lose = context.WithCancelCause(context.Background())
	var once sync.Once
	watched := &watchedConn{Conn: conn, ended: func(err error) { p.lose(&host.LostError{Host: s.Name, Err: err}) }}
	p.web = &http.Transport{
		Protocols: onlyHTTP2(), HTTP2: settings(s.Options), DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			var first net.Conn
			once.Do(func() { first = watched })
			if first == nil {
				return nil, errLost
			}
			return first, nil
		},
	}
	if err := p.call(ctx, "Hello", hello{protocol, s.Folders, s.Claim}, nil, &p.welcome); err != nil {
		err = errors.Join(err, p.Close())
		return nil, fmt.Errorf("greeting %s: %w", s.Name, withWords(conn, err))
	}
	return p, nil
}

var errLost = errors.New("the connection has ended")

// A watchedConn tells when its connection ends.
type watchedConn struct {
	net.Conn
	ended func(error)
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.ended(err)
	}
	return n, err
}

func (c *watchedConn) Close() error {
	c.ended(errLost)
	return c.Conn.Close()
}

// Close ends the connection. The far end finishes a write that is under way.
func (p *Peer) Close() error {
	p.lose(&host.LostError{Host: p.name, Err: net.ErrClosed})
	p.web.CloseIdleConnections()
	if err := p.conn.Close(); err != nil && !errors.Is(err, fs.ErrClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the connection to %s: %w", p.name, err)
	}
	return nil
}

// Lost is closed when the connection has ended.
func (p *Peer) Lost() <-chan struct{} { return p.ctx.Done() }

// Cause is why the connection has ended; nil while it has not.
func (p *Peer) Cause() error { return context.Cause(p.ctx) }

// Name is the name of the host.
func (p *Peer) Name() string { return p.name }

// Hostname is what the host calls itself.
func (p *Peer) Hostname() string { return p.welcome.Hostname }

// PID is the process id of the far end on its host.
func (p *Peer) PID() int { return p.welcome.PID }

// begin sends a call and reads the frame of its answer. The bytes behind it are for the
// caller, who closes the body.
func (p *Peer) begin(ctx context.Context, name string, args any, in io.Reader, size int64, out any) (io.ReadCloser, error) {
	if p.ctx.Err() != nil {
		return nil, context.Cause(p.ctx)
	}
	head, err := appendFrame(nil, args)
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", name, err)
	}
	send := callBody{Reader: bytes.NewReader(head)}
	if in != nil {
		send.Reader = io.MultiReader(send.Reader, in)
		send.in, _ = in.(io.Closer)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://peer/"+name, send)
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", name, err)
	}
	if r.ContentLength = -1; size >= 0 {
		r.ContentLength = int64(len(head)) + size
	}
	resp, err := p.web.RoundTrip(r)
	if err != nil {
		return nil, p.broken(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("calling %s: %s", name, resp.Status)
	}
	var a answer
	if err := readFrame(resp.Body, &a); err != nil {
		resp.Body.Close()
		return nil, p.broken(ctx, err)
	}
	if a.Err != nil {
		resp.Body.Close()
		return nil, a.Err.err()
	}
	if out != nil {
		if err := decode(a.Value, out); err != nil {
			resp.Body.Close()
			return nil, fmt.Errorf("calling %s: %w", name, err)
		}
	}
	return resp.Body, nil
}

// A callBody is the body of a call. Its Close ends a read that waits for what the caller
// sends: the far end may answer before.
type callBody struct {
	io.Reader
	in io.Closer
}

// Close closes what the caller sends.
func (b callBody) Close() error {
	if b.in == nil {
		return nil
	}
	return b.in.Close()
}

// broken is the error of a call that has no answer: that of the caller's context, or the
// loss of the connection.
func (p *Peer) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil && p.ctx.Err() == nil {
		return ctx.Err()
	}
	return &host.LostError{Host: p.name, Sent: true, Err: err}
}

// call is begin for calls whose answer has no bytes.
func (p *Peer) call(ctx context.Context, name string, args any, in []byte, out any) error {
	_, err := p.callBytes(ctx, name, args, in, out)
	return err
}

// callBytes is begin for calls whose bytes are few.
func (p *Peer) callBytes(ctx context.Context, name string, args any, in []byte, out any) ([]byte, error) {
	rest, err := p.begin(ctx, name, args, bytes.NewReader(in), int64(len(in)), out)
	if err != nil {
		return nil, err
	}
	defer rest.Close()
	b, err := io.ReadAll(rest)
	if err != nil {
		return nil, p.broken(ctx, err)
	}
	return b, nil
}

// join is path.Join without its cleaning of the folder.
func join(dir, name string) string { return path.Join(dir, name) }
