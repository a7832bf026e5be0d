package bench

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"syscall"
)

// A wire is the socket of an HTTP/2 connection, with or without TLS. Reading and
// writing never wait: who cannot write all leaves the rest to drain.
//
// Subtle: crypto/tls gets a side of the wire as its connection. While its handshake
// runs, side waits as usual. Then side's Read returns errLater where it would have
// to wait: a temporary error, after which crypto/tls can be asked again. Its Write
// collects the records.
type wire struct {
	nc  net.Conn
	raw syscall.RawConn
	tls *tls.Conn // nil without TLS

	// Of the reader.
	fd      uintptr
	empty   bool // the latest read took all that there was
	skipped bool // a read was not tried, because of empty

	// Of closed, with the connection's lock.
	look func(fd uintptr)
	gone bool

	// Of one writer at a time.
	now   func(fd uintptr) bool // writes part
	part  []byte
	n     int
	err   error
	left  []byte // what drain has to write
	whole []byte // its whole memory

	mu     sync.Mutex
	sealed []byte // records of TLS that were not written yet
	spare  []byte
}

func newWire(nc net.Conn) *wire {
	w := &wire{nc: nc}
	if tcp, ok := nc.(*net.TCPConn); ok {
		w.raw, _ = tcp.SyscallConn() // cannot fail on an open TCPConn
	}
	w.now = func(fd uintptr) bool {
		w.n, w.err = writeNow(fd, w.part)
		return true
	}
	w.look = func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		w.gone = n == 0 && err == nil || err != nil && err != syscall.EAGAIN && err != syscall.EINTR
	}
	return w
}

// closed reports, without waiting, whether the target has closed the connection and
// all that it has sent was read.
func (w *wire) closed() bool { return w.raw.Control(w.look) != nil || w.gone }

// A side is the connection that crypto/tls sees.
type side struct {
	net.Conn
	wire *wire // nil during the handshake
}

// errLater means that nothing has arrived.
var errLater error = later{}

type later struct{}

func (later) Error() string   { return "nothing has arrived" }
func (later) Timeout() bool   { return true }
func (later) Temporary() bool { return true }

// Read implements net.Conn.
func (s *side) Read(p []byte) (int, error) {
	if s.wire == nil {
		return s.Conn.Read(p)
	}
	n, err := s.wire.readSocket(p)
	if err == errAgain {
		err = errLater
	}
	return n, err
}

// Write implements net.Conn.
func (s *side) Write(p []byte) (int, error) {
	if s.wire == nil {
		return s.Conn.Write(p)
	}
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	s.wire.sealed = append(s.wire.sealed, p...)
	return len(p), nil
}

// wake is called when the descriptor may have become readable.
func (w *wire) wake(fd uintptr) { w.fd, w.empty, w.skipped = fd, false, false }

// retry reports whether a read that was skipped is to be tried after all: the end of
// the connection may have come together with the last bytes, and does not wake the
// poller again.
func (w *wire) retry() bool {
	if !w.skipped {
		return false
	}
	w.empty, w.skipped = false, false
	return true
}

// read reads what has arrived. It returns errAgain when there is nothing, and io.EOF
// at the end. It must be called within a callback of raw.
func (w *wire) read(p []byte) (int, error) {
	if w.tls == nil {
		return w.readSocket(p)
	}
	n, err := w.tls.Read(p)
	if err == errLater {
		err = errAgain
	}
	return n, err
}

// readSocket reads from the socket. A read that did not fill p has taken all: the
// runtime's poller is edge-triggered, so that later bytes wake it again, and another
// read would be in vain.
func (w *wire) readSocket(p []byte) (int, error) {
	if w.skipped = w.empty; w.empty {
		return 0, errAgain
	}
	n, err := readNow(w.fd, p)
	w.empty = n < len(p)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// write writes as much of b as the socket accepts. done is false when drain has to
// write the rest; b must not be used before it has.
func (w *wire) write(b []byte) (done bool, err error) {
	if w.tls != nil {
		if _, err := w.tls.Write(b); err != nil {
			return true, err
		}
		w.mu.Lock()
		b, w.sealed = w.sealed, w.spare[:0]
		w.spare = nil
		w.mu.Unlock()
	}
	w.part = b
	if err := w.raw.Write(w.now); err != nil {
		return true, err
	}
	if w.err != nil && w.err != errAgain {
		return true, w.err
	}
	if w.n < len(b) {
		w.left, w.whole = b[w.n:], b
		return false, nil
	}
	w.free(b)
	return true, nil
}

// drain waits until the rest is written.
func (w *wire) drain() error {
	_, err := w.nc.Write(w.left)
	w.left = nil
	w.free(w.whole)
	return err
}

// free keeps the memory of written records.
func (w *wire) free(b []byte) {
	if w.tls == nil || cap(b) > keepBuffer {
		return
	}
	w.mu.Lock()
	w.spare = b[:0]
	w.mu.Unlock()
}

// close closes the socket. polite says it over TLS before; nothing may be written at
// the same time. It does not wait.
func (w *wire) close(polite bool) {
	if w.tls != nil && polite {
		_ = w.tls.CloseWrite() // into sealed; an error means that the connection is broken already
		w.mu.Lock()
		b := w.sealed
		w.mu.Unlock()
		if len(b) > 0 {
			_ = w.raw.Write(func(fd uintptr) bool { _, _ = writeNow(fd, b); return true }) // the peer may be gone
		}
	}
	_ = w.nc.Close() // nothing of it is needed any more
}
