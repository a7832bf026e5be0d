package isublog

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// maxHead limits the head of an answer, in bytes.
const maxHead = 16 << 10

// A slot is one of the load's connections, with its request.
type slot struct {
	fd      int // below 0 while there is none
	target  int // index into the list
	out     []byte
	sent    int
	started time.Time
	active  time.Time // of the last byte, or of the start

	head   [maxHead]byte
	inHead int  // bytes of head
	headed bool // the head is complete
	status int
	length int64 // Content-Length; -1 for none
	body   int64 // bytes of the body so far
	wire   int64
}

func (s *slot) close() {
	syscall.Close(s.fd) // the answer is not needed any more
	s.fd = -1
}

// start opens a connection in a slot and sends its next request.
func (h *hammer) start(i int) {
	s := &h.slots[i]
	shot := shoot(h.picks, len(h.list))
	s.target = shot.target
	s.out = h.heads[h.list[shot.target].path][shot.variant()]
	s.sent, s.inHead, s.headed, s.status, s.length, s.body, s.wire = 0, 0, false, 0, -1, 0, 0
	s.started, s.active = h.now, h.now
	if err := h.connect(i); err != nil {
		h.finish(i, iikanji.FaultDial, err, err.Error())
		return
	}
	h.write(i)
}

// connect opens the connection without waiting for it.
func (h *hammer) connect(i int) error {
	s := &h.slots[i]
	fd, err := syscall.Socket(h.family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	s.fd = fd
	if err := syscall.Connect(fd, h.address); err != nil && err != syscall.EINPROGRESS {
		return os.NewSyscallError("connect", err)
	}
	// A socket that was never connected would be reported as closed, so it is
	// registered now only.
	event := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLOUT | syscall.EPOLLRDHUP | epollET, Fd: int32(i)}
	if err := syscall.EpollCtl(h.epoll, syscall.EPOLL_CTL_ADD, fd, &event); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	return nil
}

// epollET asks for one event per change, so that a connection is registered once.
// The constant of package syscall is negative and does not fit the field.
const epollET = 1 << 31

// serve handles the events of a slot.
func (h *hammer) serve(i int, events uint32) {
	s := &h.slots[i]
	if s.fd < 0 {
		return // closed by an earlier event of this turn
	}
	if s.sent < len(s.out) && events&(syscall.EPOLLOUT|syscall.EPOLLERR) != 0 {
		h.write(i)
	}
	if s.fd >= 0 && events&(syscall.EPOLLIN|syscall.EPOLLRDHUP|syscall.EPOLLHUP|syscall.EPOLLERR) != 0 {
		h.read(i)
	}
}

// write sends as much of the request as the socket accepts. Over loopback the
// connection is often open as soon as it was begun, which saves a turn.
func (h *hammer) write(i int) {
	s := &h.slots[i]
	for s.sent < len(s.out) {
		n, err := syscall.Write(s.fd, s.out[s.sent:])
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN || err == syscall.ENOTCONN:
			return
		case err != nil && s.sent == 0:
			h.finish(i, iikanji.FaultDial, err, err.Error())
			return
		case err != nil:
			return // what the target sent before it closed is read
		default:
			s.sent += n
		}
	}
}

// read reads what has arrived. The registration reports each arrival once, so it
// reads until there is nothing more.
func (h *hammer) read(i int) {
	s := &h.slots[i]
	for {
		n, err := syscall.Read(s.fd, h.buffer[:])
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return
		case err != nil && s.sent == 0:
			h.finish(i, iikanji.FaultDial, err, err.Error())
			return
		case err != nil:
			h.finish(i, iikanji.FaultClosed, err, err.Error())
			return
		case n == 0:
			h.closed(i)
			return
		}
		s.active = h.now
		if done := h.take(i, h.buffer[:n]); done {
			return
		}
	}
}

// take adds bytes to the answer. It returns true when the exchange is over.
func (h *hammer) take(i int, b []byte) (done bool) {
	s := &h.slots[i]
	s.wire += int64(len(b))
	if !s.headed {
		begin := s.inHead
		n := copy(s.head[s.inHead:], b)
		s.inHead += n
		end := bytes.Index(s.head[max(begin-3, 0):s.inHead], []byte("\r\n\r\n"))
		if end < 0 {
			if s.inHead == maxHead {
				h.finish(i, iikanji.FaultProtocol, nil, fmt.Sprintf("a head of more than %d bytes", maxHead))
				return true
			}
			return false
		}
		end += max(begin-3, 0) + 4
		b = b[end-begin:]
		s.inHead, s.headed = end, true
		if !s.parseHead() {
			h.finish(i, iikanji.FaultProtocol, nil, "no HTTP answer")
			return true
		}
	}
	s.body += int64(len(b))
	if s.length >= 0 && s.body > 0 && s.body >= s.length {
		h.complete(i)
		return true
	}
	return false
}

// closed ends the exchange of a connection that the target has closed.
func (h *hammer) closed(i int) {
	s := &h.slots[i]
	switch {
	case !s.headed:
		h.finish(i, iikanji.FaultClosed, nil, fmt.Sprintf("closed after %d bytes of the head", s.inHead))
	case s.length >= 0 && s.body < s.length:
		h.finish(i, iikanji.FaultClosed, nil, fmt.Sprintf("closed after %d of %d bytes", s.body, s.length))
	default:
		h.complete(i)
	}
}

// complete ends an exchange whose answer has arrived.
func (h *hammer) complete(i int) {
	s := &h.slots[i]
	if !succeeded(s.status) {
		h.finish(i, iikanji.FaultStatus, nil, fmt.Sprintf("status %d", s.status))
		return
	}
	h.answered.Add(1)
	h.s.Add(eventAnswered, 1)
	h.exchange(i, iikanji.FaultUnknown, nil)
	s.close()
	h.start(i)
}

// finish ends an exchange that failed. A request that only came to no end does not
// count as failed, as in the contest. The slot goes on at once, but waits if there
// was no connection.
func (h *hammer) finish(i int, kind iikanji.FaultKind, cause error, message string) {
	s := &h.slots[i]
	h.exchange(i, kind, cause)
	if kind != iikanji.FaultTimeout {
		h.failed.Add(1)
	}
	t := h.list[s.target]
	h.s.Report(&scenario.Fault{Kind: kind, Step: t.step, Message: message, Cause: cause, Counted: true,
		Example: &iikanji.Example{Request: "GET " + t.path, Status: s.status}})
	if s.fd >= 0 {
		s.close()
	}
	if kind != iikanji.FaultDial {
		h.start(i)
	}
}

// exchange records the exchange of a slot.
func (h *hammer) exchange(i int, kind iikanji.FaultKind, cause error) {
	s := &h.slots[i]
	h.record = scenario.Exchange{Step: h.list[s.target].step, Client: uint16(i), Method: "GET", Head: s.out, Start: s.started, End: time.Now(),
		Status: s.status, Sent: int64(s.sent), Received: s.wire, Fault: kind, Cause: cause}
	h.s.Record(&h.record)
}
