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
	"github.com/iikanji/iikanji/internal/scenario"
)

// What conn.state says besides the due time of the exchange in flight.
const (
	stateIdle    = 0
	stateExpired = -1 // the request's time passed
	stateCut     = -2 // the phase ended, or the caller gave up
	stateClosed  = -3 // the browser was closed
)

// A conn is one connection of a browser. One exchange at a time runs on it.
//
// Subtle: over plain TCP an exchange is one call of RawConn.Read. Its callback
// writes the request, asks the runtime to wait for the answer and only then
// reads. The usual Write and Read would try to read at once, in vain, which
// costs a system call per request; and the wait must be armed before the write,
// as it is here, or an answer quicker than the arming would be missed.
//
// Deadlines cost nothing per request: state holds the due time, and one lazy
// timer per connection looks at it about once per timeout (see arm).
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
	check bool // look first whether the target has closed
	sent  int  // bytes of out written; -1 before the write
	stale bool
	err   error

	state   atomic.Int64 // due time on the clock, or one of the constants above
	alarmAt atomic.Int64 // when alarm will fire, 0 when it is not set
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

// arm makes due the time by which the exchange must be over. The timer is
// touched only when it would fire too late; when it fires early it sets
// itself anew. alarmAt and state are written in opposite order by arm and
// onAlarm, so at least one of them sees what the other did.
func (c *conn) arm(due int64) {
	c.state.Store(due)
	if at := c.alarmAt.Load(); at == 0 || at > due {
		c.alarmAt.Store(due)
		c.alarm.Reset(time.Duration(due - c.clock.now()))
	}
}

// disarm ends the exchange; false means that it was interrupted meanwhile and
// the connection is not to be used again.
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

// interrupt ends the exchange in flight, if there is one, for a reason.
func (c *conn) interrupt(why int64) {
	for due := c.state.Load(); due > 0; due = c.state.Load() {
		if c.state.CompareAndSwap(due, why) {
			c.wake()
			return
		}
	}
}

// wake makes reads and writes in progress return. The owner closes.
func (c *conn) wake() { _ = c.nc.SetDeadline(time.Unix(1, 0)) } // fails only when closed already

func (c *conn) close() {
	c.alarm.Stop()
	_ = c.nc.Close() // nothing is lost with an answer we no longer want
}

// exchange sends c.out and c.rest and reads the answer into res. It returns
// nil when the answer is whole, else a *scenario.Fault; errStale when the
// connection turned out to be dead before anything was sent.
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
	return c.explain(err)
}

var errStale = errors.New("the target closed the idle connection")

// direct is an exchange over plain TCP.
func (c *conn) direct() error {
	err := c.raw.Read(c.step)
	if err != nil || c.err != nil || c.stale || c.sent == len(c.out) && c.rest == nil {
		return err
	}
	// The socket's buffer was full, or there is a body of its own.
	_, werr := c.nc.Write(c.out[c.sent:])
	if werr == nil && c.rest != nil {
		_, werr = c.nc.Write(c.rest)
	}
	c.sent, c.rest = len(c.out), nil
	// A target may answer (413, say) and close before it has read everything:
	// the answer counts if it came.
	err = c.raw.Read(c.step)
	if werr != nil && c.res.reply.wire == 0 {
		c.err = werr
	}
	return err
}

// onReady runs on the connection's descriptor: first to send, then whenever
// there may be something to read. It returns true when the exchange is over or
// needs its goroutine.
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

// send writes as much of out as the socket takes at once.
func (c *conn) send(fd uintptr) {
	n, err := writeNow(fd, c.out)
	if c.sent = n; err != nil && err != errAgain {
		c.err = err
	}
}

// errAgain is EAGAIN as an error made once: converting costs an allocation.
var errAgain error = syscall.EAGAIN

// alive looks, without waiting, whether an idle connection is still open and silent.
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

// explain makes a fault of what ended an exchange early.
func (c *conn) explain(err error) error {
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

// plainError strips the addresses that net puts around a system error.
func plainError(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no.Error()
	}
	return err.Error()
}
