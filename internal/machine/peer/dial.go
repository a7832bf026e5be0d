package peer

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// Dial connects to an address or a unix socket of the host; the far end connects.
func (p *Peer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	near, inner := net.Pipe() // which keeps deadlines
	live, end := context.WithCancel(p.ctx)
	stop := context.AfterFunc(ctx, end) // while connecting only
	send, sending := io.Pipe()
	rest, err := p.begin(live, "Dial", dialTo{network, address}, send, -1, nil)
	if !stop() && err == nil {
		err = ctx.Err()
		rest.Close()
	}
	if err != nil {
		end()
		near.Close()
		inner.Close()
		send.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	c := &dialled{Conn: near, to: named{network, address}, end: end}
	go func() {
		_, err := io.Copy(sending, inner)
		sending.CloseWithError(err) // nil: the end of what is sent
	}()
	go func() {
		_, _ = io.Copy(inner, rest) // the end of the connection, either way
		inner.Close()
		rest.Close()
		end()
	}()
	return c, nil
}

// A dialled connection goes through the far end.
type dialled struct {
	net.Conn
	to   named
	end  context.CancelFunc
	once sync.Once
}

// RemoteAddr is the address on the host.
func (c *dialled) RemoteAddr() net.Addr { return c.to }

// lastWords is how long the far end may take to pass on what was written before Close.
const lastWords = time.Second

// Close ends the connection at both ends.
func (c *dialled) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { time.AfterFunc(lastWords, c.end) })
	return err
}
