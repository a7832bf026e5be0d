package bench

import (
	"errors"
	"os"
	"runtime"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/h2"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

var errTimeout = os.ErrDeadlineExceeded

// h2Input is the size of the buffer of a reader: a frame of the largest size that we
// allow fits in.
const h2Input = 32 << 10

// An h2input is the buffer of a reader while there is something to read. A
// connection that waits has none.
type h2input struct {
	buf      [h2Input]byte
	pos, end int
}

var h2inputs = sync.Pool{New: func() any { return new(h2input) }}

// readsBetween is after how many reads the reader lets others run although more has
// arrived.
const readsBetween = 8

// read is the goroutine of a connection.
func (cc *h2conn) read() {
	err := cc.wire.raw.Read(cc.ready)
	cc.mu.Lock()
	if !cc.dead {
		f := &scenario.Fault{Kind: iikanji.FaultClosed, Step: -1, Message: "connection closed"}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			f.Message, f.Cause = plainError(err), err
		}
		cc.die(f)
	}
	polite := !cc.writing
	cc.mu.Unlock()
	cc.c.s.dials.closed()
	cc.c.dropH2(cc)
	cc.wire.close(polite)
}

// onReady is called with the descriptor, first at once and then each time it may
// have become readable. It returns true when the connection is over.
func (cc *h2conn) onReady(fd uintptr) bool {
	cc.wire.wake(fd)
	for {
		more, err := cc.some()
		cc.settle(err)
		switch {
		case err != nil:
			return true
		case !more:
			return cc.release()
		}
	}
}

// some reads and takes what has arrived, up to a limit. more means that the limit
// was met.
func (cc *h2conn) some() (more bool, err error) {
	waiting := false // for answers, which would wait in vain after the end
	for range readsBetween {
		if cc.in == nil {
			cc.in = h2inputs.Get().(*h2input)
			cc.in.pos, cc.in.end = 0, 0
		}
		n, err := cc.wire.read(cc.in.buf[cc.in.end:])
		if err == errAgain {
			if waiting && cc.wire.retry() {
				continue
			}
			return false, nil
		}
		cc.in.end += n
		cc.mu.Lock()
		cc.reading = true
		if n > 0 {
			cc.heard = cc.clock.now()
			if wrong := cc.receive(); wrong != nil {
				err = wrong
			}
		}
		if err == nil && cc.dead {
			err = errGone
		}
		// Requests that go on write soon, which shows an end, too.
		waiting = len(cc.streams) > 0 && (cc.woken == 0 || cc.draining)
		cc.mu.Unlock()
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// settle lets the requests whose answers have arrived go on, and writes what they
// and the reader have appended. err ends the connection.
func (cc *h2conn) settle(err error) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	if err != nil {
		cc.fail(err)
		cc.reading = false
		return
	}
	if cc.woken > 0 {
		cc.woken = 0
		cc.mu.Unlock()
		runtime.Gosched()
		cc.mu.Lock()
	}
	cc.reading = false
	cc.flush()
}

// fail ends the connection for an error of reading.
func (cc *h2conn) fail(err error) {
	var broken *h2error
	switch {
	case errors.As(err, &broken):
		if !cc.writing && !cc.dead {
			cc.out = h2.AppendGoAway(cc.out[:0], broken.code)
			cc.writing = true
			_, _ = cc.wire.write(cc.out) // the target may be gone; it is told as far as that is possible now
			cc.writing = false
		}
		cc.die(protocol("%s", broken.text))
	case isEOF(err):
		cc.die(&scenario.Fault{Kind: iikanji.FaultClosed, Step: -1, Message: cc.closedWhere()})
	case err == errGone: // dead already
	default:
		cc.die(&scenario.Fault{Kind: iikanji.FaultClosed, Step: -1, Message: plainError(err), Cause: err})
	}
}

// closedWhere says where in the protocol the target has closed the connection.
func (cc *h2conn) closedWhere() string {
	switch {
	case cc.heard == 0:
		return "connection closed before the first byte of the target"
	case cc.lastID != h2.MaxWindow:
		return "connection closed after GOAWAY, without an answer"
	case cc.blockOf.Type == h2.Headers:
		return "connection closed within a header"
	}
	return "connection closed without a complete answer"
}

// release gives the buffer back while nothing is to be read. It reports whether the
// connection is over.
func (cc *h2conn) release() (over bool) {
	if cc.in != nil && cc.in.pos == cc.in.end {
		h2inputs.Put(cc.in)
		cc.in = nil
	}
	cc.mu.Lock()
	defer cc.mu.Unlock()
	return cc.dead || cc.idle()
}

// receive takes the complete frames that have arrived.
func (cc *h2conn) receive() error {
	in := cc.in
	if !cc.settled {
		if err := cc.firstFrame(in.buf[in.pos:in.end]); err != nil {
			return err
		}
	}
	for in.end-in.pos >= h2.HeaderSize {
		h := h2.ParseHeader(in.buf[in.pos:])
		if h.Length > h2.MinMaxFrame {
			return broke(h2.FrameSizeError, "%v of %d bytes, at most %d are allowed", h.Type, h.Length, h2.MinMaxFrame)
		}
		whole := h2.HeaderSize + h.Length
		if in.end-in.pos < whole {
			break
		}
		payload := in.buf[in.pos+h2.HeaderSize : in.pos+whole]
		in.pos += whole
		if err := cc.frame(&h, payload); err != nil {
			return err
		}
	}
	in.end = copy(in.buf[:], in.buf[in.pos:in.end])
	in.pos = 0
	return nil
}

// firstFrame rejects a target that does not begin with SETTINGS, as soon as that is
// certain.
func (cc *h2conn) firstFrame(b []byte) error {
	const h1 = "HTTP/1."
	if len(b) >= len(h1) && string(b[:len(h1)]) == h1 {
		return broke(h2.ProtocolError, "the target speaks HTTP/1, not HTTP/2")
	}
	if len(b) < h2.HeaderSize {
		return nil
	}
	if h := h2.ParseHeader(b); h.Type != h2.Settings || h.Has(h2.FlagAck) || h.Stream != 0 {
		return broke(h2.ProtocolError, "the target begins with %.20q, not with SETTINGS", b)
	}
	return nil
}
