package bench

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Values of conn.state besides the due time of the exchange in flight.
const (
	stateIdle    = 0
	stateExpired = -1 // the request timed out
	stateCut     = -2 // the phase or the caller's context ended
	stateClosed  = -3 // the browser was closed
)

// A conn is one connection of a browser. One exchange at a time runs on it.
//
// Subtle: over plain TCP an exchange is one call of RawConn.Read. Its callback
// writes the request, makes the runtime wait for the answer and only then reads.
// The usual Write and Read would first read in vain, which costs a system call
// per request. The wait must be armed before the write, as it is here, or an
// answer that arrives before the arming would be missed.
//
// Deadlines cost nothing per request: state holds the due time, and one lazy
// timer per connection checks it about once per timeout (see arm).
type conn struct {
	clock *clock
	nc    net.Conn
	raw   syscall.RawConn // nil over TLS
	step  func(fd uintptr) bool

	out       []byte // the request on the wire
	rest      []byte // a body too large to copy behind out
	used      int    // exchanges so far
	idleSince int64

	// The exchange in flight.
	res   *response
	check bool // first test whether the target has closed
	sent  int  // bytes of out written; -1 before the write
	stale bool
	err   error

	writes  atomic.Bool  // the exchange may change data of the target
	state   atomic.Int64 // due time on the clock, or one of the constants above
	alarmAt atomic.Int64 // when alarm fires, 0 when it is not set
	alarm   *time.Timer
}

func newConn(clock *clock, nc net.Conn) *conn {
	c := &conn{clock: clock, nc: nc}
	if tcp, ok := nc.(*net.TCPConn); ok {
		c.raw, _ = tcp.SyscallConn() // cannot fail on an open TCPConn
	}
	c.step = c.onReady
	c.alarm = time.AfterFunc(time.Hour, c.onAlarm)
	c.alarm.Stop()
	return c
}

// arm sets the time by which the exchange must be over. It resets the timer only
// when the timer would fire too late; a timer that fires early resets itself.
// arm and onAlarm write alarmAt and state in opposite order, so at least one of
// them sees the other's write.
func (c *conn) arm(due int64) {
	c.state.Store(due)
	if at := c.alarmAt.Load(); at == 0 || at > due {
		c.alarmAt.Store(due)
		c.alarm.Reset(time.Duration(due - c.clock.now()))
	}
}

// disarm ends the exchange. It returns false when the exchange was interrupted;
// the connection must not be used again then.
func (c *conn) disarm(due int64) bool { return c.state.CompareAndSwap(due, stateIdle) }

func (c *conn) onAlarm() {
	c.alarmAt.Store(0)
	due := c.state.Load()
	if due <= 0 {
		return
	}
	if wait := due - c.clock.now(); wait > 0 {
		c.alarmAt.Store(due)
		c.alarm.Reset(time.Duration(wait))
		return
	}
	if c.state.CompareAndSwap(due, stateExpired) {
		c.wake()
	}
}

// interrupt ends the exchange in flight, if there is one. why is the state to set.
func (c *conn) interrupt(why int64) {
	for due := c.state.Load(); due > 0; due = c.state.Load() {
		if c.state.CompareAndSwap(due, why) {
			c.wake()
			return
		}
	}
}

// wake makes pending reads and writes return. The owner closes the connection.
func (c *conn) wake() { _ = c.nc.SetDeadline(time.Unix(1, 0)) } // fails only on a closed connection

func (c *conn) close() {
	c.alarm.Stop()
	_ = c.nc.Close() // the answer is not needed any more
}

// exchange sends c.out and c.rest and reads the answer into res. It returns nil
// when the answer is complete, errStale when the target had closed the
// connection before anything was sent, and a *scenario.Fault otherwise.
func (c *conn) exchange(res *response) error {
	c.res, c.sent, c.stale, c.err = res, -1, false, nil
	var err error
	if c.raw == nil {
		err = c.stream()
	} else {
		err = c.direct()
	}
	c.res = nil
	c.used++
	if c.stale {
		return errStale
	}
	if err == nil {
		err = c.err
	}
	if err == nil {
		return nil
	}
	return c.asFault(err)
}

var errStale = errors.New("the target closed the idle connection")

// direct is an exchange over plain TCP.
func (c *conn) direct() error {
	err := c.raw.Read(c.step)
	if err != nil || c.err != nil || c.stale || c.sent == len(c.out) && c.rest == nil {
		return err
	}
	// The socket's buffer was full, or the body is sent separately.
	_, werr := c.nc.Write(c.out[c.sent:])
	if werr == nil && c.rest != nil {
		_, werr = c.nc.Write(c.rest)
	}
	c.sent, c.rest = len(c.out), nil
	// A target may answer (with 413, for example) and close before it has read
	// everything. An answer that arrived counts.
	err = c.raw.Read(c.step)
	if werr != nil && c.res.reply.wire == 0 {
		c.err = werr
	}
	return err
}

// onReady is called with the connection's descriptor: first to send, then each
// time the descriptor may be readable. It returns true when the exchange is over
// or must go on in its goroutine.
func (c *conn) onReady(fd uintptr) bool {
	if c.sent < 0 {
		if c.check && !alive(int(fd)) {
			c.stale = true
			return true
		}
		if c.send(fd); c.err != nil || c.sent < len(c.out) || c.rest != nil {
			return true
		}
		return false
	}
	for {
		n, err := readNow(fd, c.res.reply.room())
		switch {
		case err == errAgain:
			return false
		case err != nil:
			c.err = err
			return true
		case n == 0:
			c.err = c.res.reply.eof()
			return true
		}
		c.res.reply.grow(n)
		done, err := c.res.reply.parse()
		if c.err = err; done || err != nil {
			return true
		}
	}
}

// send writes as much of out as the socket accepts at once.
func (c *conn) send(fd uintptr) {
	n, err := writeNow(fd, c.out)
	if c.sent = n; err != nil && err != errAgain {
		c.err = err
	}
}

// errAgain is EAGAIN, converted to an error once: each conversion allocates.
var errAgain error = syscall.EAGAIN

// alive reports, without waiting, whether an idle connection is open and has no data.
func alive(fd int) bool {
	var b [1]byte
	for {
		_, _, err := syscall.Recvfrom(fd, b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if err != syscall.EINTR {
			return err == syscall.EAGAIN
		}
	}
}

// stream is an exchange over TLS.
func (c *conn) stream() error {
	c.sent = 0
	if _, err := c.nc.Write(c.out); err != nil {
		return err
	}
	c.sent = len(c.out)
	if c.rest != nil {
		if _, err := c.nc.Write(c.rest); err != nil {
			return err
		}
		c.rest = nil
	}
	for {
		n, err := c.nc.Read(c.res.reply.room())
		if n > 0 {
			c.res.reply.grow(n)
			if done, err := c.res.reply.parse(); done || err != nil {
				return err
			}
		}
		if err != nil {
			if isEOF(err) {
				return c.res.reply.eof()
			}
			return err
		}
	}
}

// asFault makes a fault from the error that ended an exchange early.
func (c *conn) asFault(err error) error {
	var f *scenario.Fault
	switch state := c.state.Load(); {
	case state == stateCut || state == stateClosed:
		return &scenario.Fault{Kind: iikanji.FaultCut, Step: -1, Message: "cut off", Cause: context.Canceled}
	case state == stateExpired:
		return &scenario.Fault{Kind: iikanji.FaultTimeout, Step: -1, Cause: os.ErrDeadlineExceeded}
	case errors.As(err, &f):
		return f
	}
	return &scenario.Fault{Kind: iikanji.FaultClosed, Step: -1, Message: plainError(err), Cause: err}
}

// plainError removes the addresses that package net adds to a system error.
func plainError(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no.Error()
	}
	return err.Error()
}
