package peer

import (
	"net"
	"sync"
)

// A oneListener accepts one connection. The next Accept waits until the listener is
// closed; closing it closes the connection.
type oneListener struct {
	conn   net.Conn
	first  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newOneListener(conn net.Conn) *oneListener {
	l := &oneListener{conn: conn, first: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.first <- conn
	return l
}

// Accept returns the connection once.
func (l *oneListener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, net.ErrClosed
	case c := <-l.first:
		return c, nil
	}
}

// Close ends the waiting Accept.
func (l *oneListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.conn.Close()
	})
	return nil
}

// Addr is the address of the connection.
func (l *oneListener) Addr() net.Addr { return l.conn.LocalAddr() }
