package bench

import (
	"errors"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/h2"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Limits and sizes of HTTP/2 connections. The windows are those of Chrome.
const (
	h2StreamWindow = 6 << 20
	h2ConnWindow   = 15 << 20
	// h2Streams is the number of streams before the target has sent its own limit.
	h2Streams = 100
	// h2Pending is how many bytes wait to be written before bodies of requests wait.
	h2Pending = 256 << 10
	// h2Answers limits the frames that answer the target's own, such as acknowledged
	// PINGs, if the target does not read.
	h2Answers = 1 << 20
	// h2Useless is how many frames in a row may be of no use for a request.
	h2Useless = 10_000
	// h2Blocks limits the CONTINUATION frames of one header block.
	h2Blocks = 64
)

// An h2conn is one connection of a browser over HTTP/2. Its reader is a goroutine
// that runs while the connection is open. Everything else is done by the goroutines
// of the requests, under mu.
//
// Subtle: a request does not write while the reader is at work (see reading). The
// reader wakes the requests whose answers have arrived, lets them run, and then
// writes what all of them have appended, in one system call. Where the requests run
// on other processors and come later, they write themselves.
type h2conn struct {
	c     *client
	clock *clock
	wire  *wire
	ready func(fd uintptr) bool

	mu       sync.Mutex
	enc      *h2.Encoder
	dec      *h2.Decoder
	nextID   uint32
	ids      []uint32 // of streams, in the same order
	streams  []*h2stream
	sending  []*h2stream // those whose bodies wait for the flow control
	reserved int         // streams that were promised to waiting requests
	turns    []chan bool // requests that wait for a stream

	out, spare []byte // frames to write, and memory for the next ones
	answers    int    // bytes of out that answer frames of the target
	writing    bool
	reading    bool
	woken      int // streams that ended since the reader last looked
	useless    int // frames in a row

	peer       peerSettings
	sendWindow int64
	recvWindow int64
	credit     int64 // received bytes that were not given back
	stray      int64 // bytes that may still arrive for streams that were reset

	settled  bool // the target's SETTINGS have arrived
	draining bool // no new streams: the target said so, or it does not answer
	dead     bool // the reader has ended, or must end
	why      *scenario.Fault
	lastID   uint32 // of GOAWAY
	heard    int64  // clock time of the latest bytes

	alarm   *time.Timer
	alarmAt int64 // 0 when it is not set

	// Of the reader.
	in      *h2input
	blockOf h2.FrameHeader // HEADERS whose block is not complete; Type is Data if none
	block   []byte
	blocks  int
	vacant  void
}

// peerSettings are those that the target has sent.
type peerSettings struct {
	streams  int // SETTINGS_MAX_CONCURRENT_STREAMS
	window   int64
	maxFrame int
	maxList  int64 // SETTINGS_MAX_HEADER_LIST_SIZE, -1 for none
}

// newH2conn makes a connection. It sends the preface with the first request.
func newH2conn(c *client, w *wire) *h2conn {
	cc := &h2conn{c: c, clock: c.s.clock, wire: w, enc: h2.NewEncoder(), dec: h2.NewDecoder(h2.DefaultTable), nextID: 1,
		sendWindow: h2.DefaultWindow, recvWindow: h2ConnWindow, lastID: h2.MaxWindow,
		peer: peerSettings{streams: h2Streams, window: h2.DefaultWindow, maxFrame: h2.MinMaxFrame, maxList: -1}}
	cc.ready = cc.onReady
	cc.alarm = time.AfterFunc(time.Hour, cc.onAlarm)
	cc.alarm.Stop()
	cc.out = append(cc.out, h2.Preface...)
	cc.out = h2.AppendSettings(cc.out,
		h2.Setting{ID: h2.EnablePush, Value: 0},
		h2.Setting{ID: h2.InitialWindowSize, Value: h2StreamWindow},
		h2.Setting{ID: h2.MaxHeaderListSize, Value: maxHead})
	cc.out = h2.AppendWindowUpdate(cc.out, 0, h2ConnWindow-h2.DefaultWindow)
	return cc
}

var (
	errFull = errors.New("no free stream")
	errGone = errors.New("the connection takes no more streams")
)

// start sends a request on a new stream, which must be over at the clock time
// st.due. The error is nil, errFull or errGone; then nothing was sent. reserved means
// that the request waited for its stream.
func (cc *h2conn) start(k *call, st *h2stream, reserved bool) error {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	if reserved {
		cc.reserved--
	}
	switch {
	case cc.dead || cc.draining || cc.nextID > h2.MaxWindow:
		if cc.idle() {
			cc.wakeReader()
		}
		return errGone
	case !reserved && len(cc.streams)+cc.reserved >= cc.peer.streams:
		return errFull
	}
	st.cc, st.id = cc, cc.nextID
	st.sendWindow, st.recvWindow = cc.peer.window, h2StreamWindow
	cc.nextID += 2
	cc.ids = append(cc.ids, st.id)
	cc.streams = append(cc.streams, st)
	at := len(cc.out)
	cc.appendHead(k, st)
	st.sent = int64(len(cc.out) - at)
	if len(st.body) > 0 {
		cc.queue(st)
	}
	cc.arm(st.due)
	if !cc.reading {
		cc.flush()
	}
	return nil
}

// arm makes the alarm fire at a clock time or before.
func (cc *h2conn) arm(due int64) {
	if cc.alarmAt == 0 || cc.alarmAt > due {
		cc.alarmAt = due
		cc.alarm.Reset(time.Duration(due - cc.clock.now()))
	}
}

// onAlarm ends the streams whose time is over.
func (cc *h2conn) onAlarm() {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	cc.alarmAt = 0
	if cc.dead {
		return
	}
	now, next := cc.clock.now(), int64(0)
	for i := 0; i < len(cc.streams); {
		st := cc.streams[i]
		if st.due > now {
			if next == 0 || st.due < next {
				next = st.due
			}
			i++
			continue
		}
		if now-max(cc.heard, st.began) > (st.due-st.began)/2 || cc.blockOf.Type == h2.Headers {
			cc.draining = true // the target does not send, or stopped in the middle of a header
		}
		cc.abandon(st, &scenario.Fault{Kind: iikanji.FaultTimeout, Step: -1, Cause: errTimeout}, now)
	}
	if next > 0 {
		cc.arm(next)
	}
	cc.after()
}

// abandon resets a stream that is not over. f may be nil.
func (cc *h2conn) abandon(st *h2stream, f *scenario.Fault, now int64) {
	cc.out = h2.AppendReset(cc.out, st.id, h2.Cancel)
	cc.stray += max(st.recvWindow, 0)
	cc.finish(st, f, now)
}

// after is called by others than the reader, after they have ended streams or
// appended frames.
func (cc *h2conn) after() {
	switch {
	case cc.idle():
		cc.wakeReader()
	case !cc.reading:
		cc.flush()
	}
}

// idle reports whether a connection that takes no more streams is not needed.
func (cc *h2conn) idle() bool {
	return cc.draining && len(cc.streams) == 0 && cc.reserved == 0
}

// wakeReader makes the reader look whether it must end.
func (cc *h2conn) wakeReader() { _ = cc.wire.nc.SetReadDeadline(time.Unix(1, 0)) } // fails only on a closed connection

// finish ends a stream: it leaves the connection, and the goroutine that waits for
// it goes on. f is nil for an answer.
func (cc *h2conn) finish(st *h2stream, f *scenario.Fault, now int64) {
	i := cc.index(st.id)
	last := len(cc.ids) - 1
	cc.ids[i], cc.streams[i] = cc.ids[last], cc.streams[last]
	cc.streams[last] = nil
	cc.ids, cc.streams = cc.ids[:last], cc.streams[:last]
	if st.queued {
		cc.unqueue(st)
	}
	st.fault, st.end, st.over = f, now, true
	cc.woken++
	cc.giveTurn()
	st.wake()
}

// queue sends what the flow control allows of a stream's body, and the rest later.
func (cc *h2conn) queue(st *h2stream) {
	st.queued = true
	cc.sending = append(cc.sending, st)
	cc.pump()
}

// unqueue removes a stream from those whose bodies wait.
func (cc *h2conn) unqueue(st *h2stream) {
	st.queued = false
	for i, s := range cc.sending {
		if s == st {
			cc.sending = append(cc.sending[:i], cc.sending[i+1:]...)
			return
		}
	}
}

// index returns the place of a stream, -1 if it is not open.
func (cc *h2conn) index(id uint32) int {
	for i, n := range cc.ids {
		if n == id {
			return i
		}
	}
	return -1
}

// giveTurn promises free streams to waiting requests.
func (cc *h2conn) giveTurn() {
	for len(cc.turns) > 0 && len(cc.streams)+cc.reserved < cc.peer.streams && !cc.draining && !cc.dead {
		cc.reserved++
		cc.turns[0] <- true
		cc.turns = cc.turns[1:]
	}
	if cc.draining || cc.dead {
		for _, turn := range cc.turns {
			close(turn)
		}
		cc.turns = nil
	}
}

// die ends the connection and all its streams. Each gets a fault of its own.
func (cc *h2conn) die(why *scenario.Fault) {
	if cc.dead {
		return
	}
	cc.dead, cc.why = true, why
	now := cc.clock.now()
	for len(cc.streams) > 0 {
		f := *why
		cc.finish(cc.streams[len(cc.streams)-1], &f, now)
	}
	cc.giveTurn()
	cc.alarm.Stop()
}

// quit ends the connection from outside.
func (cc *h2conn) quit(why *scenario.Fault) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	cc.die(why)
	cc.wakeReader()
}

// cutStreams ends the streams of which which is true, and reports whether others
// that change data are left.
func (cc *h2conn) cutStreams(which func(st *h2stream) bool) (left bool) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	now := cc.clock.now()
	for i := 0; i < len(cc.streams); {
		if st := cc.streams[i]; which(st) {
			cc.abandon(st, cutFault("cut off", nil), now)
			continue
		}
		left = true
		i++
	}
	cc.after()
	return left
}

// cutStream ends one stream, if it is not over. Without force one that may change
// data goes on.
func (cc *h2conn) cutStream(id uint32, force bool) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	if i := cc.index(id); i >= 0 && (force || !cc.streams[i].writes) {
		cc.abandon(cc.streams[i], cutFault("cut off", nil), cc.clock.now())
		cc.after()
	}
}
