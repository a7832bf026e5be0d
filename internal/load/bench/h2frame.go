package bench

import (
	"encoding/binary"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/h2"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// What an HTTP/2 connection does with each frame. All functions are called by the
// reader with the lock held. An error ends the connection.

// An h2error is an error of the connection (RFC 9113, 5.4.1).
type h2error struct {
	code h2.Code
	text string
}

// Error returns what is wrong.
func (e *h2error) Error() string { return e.text }

func broke(code h2.Code, format string, args ...any) error {
	return &h2error{code, fmt.Sprintf(format, args...)}
}

// frame takes one frame.
func (cc *h2conn) frame(h *h2.FrameHeader, payload []byte) error {
	if cc.useless++; cc.useless > h2Useless {
		return broke(h2.EnhanceYourCalm, "%d frames in a row of no use, %v the last", h2Useless, h.Type)
	}
	if (cc.blockOf.Type == h2.Headers) != (h.Type == h2.Continuation) || h.Type == h2.Continuation && h.Stream != cc.blockOf.Stream {
		return broke(h2.ProtocolError, "%v of stream %d where a header block begins or goes on", h.Type, h.Stream)
	}
	switch h.Type {
	case h2.Data:
		return cc.onData(h, payload)
	case h2.Headers:
		return cc.onHeaders(h, payload)
	case h2.Continuation:
		return cc.onContinuation(h, payload)
	case h2.ResetStream:
		return cc.onReset(h, payload)
	case h2.Settings:
		return cc.onSettings(h, payload)
	case h2.Ping:
		return cc.onPing(h, payload)
	case h2.GoAway:
		return cc.onGoAway(h, payload)
	case h2.WindowUpdate:
		return cc.onWindow(h, payload)
	case h2.PushPromise:
		return broke(h2.ProtocolError, "PUSH_PROMISE, which was not allowed")
	case h2.Priority:
		if len(payload) != 5 || h.Stream == 0 {
			return broke(h2.FrameSizeError, "PRIORITY of %d bytes for stream %d", len(payload), h.Stream)
		}
	}
	return nil // unknown types are ignored (RFC 9113, 4.1)
}

// opened checks that a stream was opened by us, now or earlier.
func (cc *h2conn) opened(h *h2.FrameHeader) error {
	if h.Stream == 0 || h.Stream%2 == 0 || h.Stream >= cc.nextID {
		return broke(h2.ProtocolError, "%v of stream %d, which was not opened", h.Type, h.Stream)
	}
	return nil
}

// open returns an open stream, nil if it is over.
func (cc *h2conn) open(id uint32) *h2stream {
	if i := cc.index(id); i >= 0 {
		return cc.streams[i]
	}
	return nil
}

func (cc *h2conn) onHeaders(h *h2.FrameHeader, payload []byte) error {
	if err := cc.opened(h); err != nil {
		return err
	}
	size := len(payload)
	payload, ok := h2.Unpad(h, payload)
	if ok && h.Has(h2.FlagPriority) {
		if ok = len(payload) >= 5; ok {
			payload = payload[5:]
		}
	}
	if !ok {
		return broke(h2.ProtocolError, "HEADERS whose padding is longer than the frame")
	}
	if st := cc.open(h.Stream); st != nil {
		st.res.reply.wire += int64(size + h2.HeaderSize)
	}
	if !h.Has(h2.FlagEndHeaders) {
		cc.blockOf, cc.block, cc.blocks = *h, append(cc.block[:0], payload...), 0
		return nil
	}
	return cc.onBlock(h, payload)
}

func (cc *h2conn) onContinuation(h *h2.FrameHeader, payload []byte) error {
	if cc.blocks++; cc.blocks > h2Blocks || len(cc.block)+len(payload) > maxHead {
		return broke(h2.EnhanceYourCalm, "a header block of more than %d bytes or %d frames", maxHead, h2Blocks)
	}
	if st := cc.open(h.Stream); st != nil {
		st.res.reply.wire += int64(len(payload) + h2.HeaderSize)
	}
	cc.block = append(cc.block, payload...)
	if !h.Has(h2.FlagEndHeaders) {
		return nil
	}
	first := cc.blockOf
	cc.blockOf = h2.FrameHeader{}
	err := cc.onBlock(&first, cc.block)
	if cap(cc.block) > h2Input {
		cc.block = nil
	}
	return err
}

// onBlock takes a complete header block.
func (cc *h2conn) onBlock(h *h2.FrameHeader, block []byte) error {
	st := cc.open(h.Stream)
	if st == nil { // it still changes the table
		if err := cc.dec.Decode(block, cc.vacant); err != nil {
			return broke(h2.CompressionError, "%v", err)
		}
		return nil
	}
	cc.useless = 0
	st.beginBlock()
	if err := cc.dec.Decode(block, st); err != nil {
		return broke(h2.CompressionError, "%v", err)
	}
	done, wrong := st.endBlock(h.Has(h2.FlagEndStream))
	switch {
	case wrong != nil:
		cc.reject(st, h2.ProtocolError, wrong)
	case done:
		cc.complete(st)
	case st.piped != nil && st.headed:
		st.piped.changed()
	}
	return nil
}

// reject resets a stream whose answer is wrong.
func (cc *h2conn) reject(st *h2stream, code h2.Code, wrong *scenario.Fault) {
	cc.out = h2.AppendReset(cc.out, st.id, code)
	cc.stray += max(st.recvWindow, 0)
	cc.finish(st, wrong, cc.heard)
}

// complete ends a stream whose answer is complete. If the request is not, the target
// does not want the rest of it (RFC 9113, 8.1).
func (cc *h2conn) complete(st *h2stream) {
	if !st.sentAll {
		cc.out = h2.AppendReset(cc.out, st.id, h2.Cancel)
	}
	cc.finish(st, nil, cc.heard)
}

func (cc *h2conn) onData(h *h2.FrameHeader, payload []byte) error {
	if err := cc.opened(h); err != nil {
		return err
	}
	n := int64(len(payload))
	if cc.recvWindow -= n; cc.recvWindow < 0 {
		return broke(h2.FlowControlError, "more DATA than the connection's window")
	}
	if cc.credit += n; cc.credit >= h2ConnWindow/2 {
		cc.out = h2.AppendWindowUpdate(cc.out, 0, int(cc.credit))
		cc.recvWindow += cc.credit
		cc.credit = 0
	}
	st := cc.open(h.Stream)
	if st == nil {
		if cc.stray -= n; cc.stray < 0 {
			return broke(h2.StreamClosed, "DATA of streams that are over")
		}
		return nil
	}
	body, ok := h2.Unpad(h, payload)
	if !ok {
		return broke(h2.ProtocolError, "DATA whose padding is longer than the frame")
	}
	if n > 0 {
		cc.useless = 0
	}
	cc.takeData(st, h, body, n)
	return nil
}

// takeData takes DATA of an open stream. n is its size with padding.
func (cc *h2conn) takeData(st *h2stream, h *h2.FrameHeader, body []byte, n int64) {
	st.res.reply.wire += n + h2.HeaderSize
	if st.recvWindow -= n; st.recvWindow < 0 {
		cc.reject(st, h2.FlowControlError, protocol("more DATA than the stream's window"))
		return
	}
	if !st.headed {
		cc.reject(st, h2.ProtocolError, protocol("DATA before the header of the answer"))
		return
	}
	wrong := st.take(body)
	end := h.Has(h2.FlagEndStream)
	if wrong == nil && end {
		wrong = st.wholeBody()
	}
	switch {
	case wrong != nil:
		cc.reject(st, h2.Cancel, wrong)
	case end:
		cc.complete(st)
	case st.piped != nil:
		st.piped.changed()
		cc.grant(st, n-int64(len(body))) // the rest when it is read
	default:
		cc.grant(st, n)
	}
}

// grant lets the target send n bytes again, now or with the next ones.
func (cc *h2conn) grant(st *h2stream, n int64) {
	if more := st.giveBack(n); more > 0 {
		cc.out = h2.AppendWindowUpdate(cc.out, st.id, int(more))
	}
}

func (cc *h2conn) onReset(h *h2.FrameHeader, payload []byte) error {
	if err := cc.opened(h); err != nil {
		return err
	}
	if len(payload) != 4 {
		return broke(h2.FrameSizeError, "RST_STREAM of %d bytes", len(payload))
	}
	st := cc.open(h.Stream)
	if st == nil {
		return nil
	}
	code := h2.Code(binary.BigEndian.Uint32(payload))
	st.unprocessed = code == h2.RefusedStream
	cc.finish(st, &scenario.Fault{Kind: iikanji.FaultClosed, Step: -1, Message: "stream reset by the target: " + code.String()}, cc.heard)
	return nil
}

func (cc *h2conn) onGoAway(h *h2.FrameHeader, payload []byte) error {
	if len(payload) < 8 {
		return broke(h2.FrameSizeError, "GOAWAY of %d bytes", len(payload))
	}
	if h.Stream != 0 {
		return broke(h2.ProtocolError, "GOAWAY of stream %d", h.Stream)
	}
	last, code := binary.BigEndian.Uint32(payload)&h2.MaxWindow, h2.Code(binary.BigEndian.Uint32(payload[4:]))
	if last > cc.lastID {
		return broke(h2.ProtocolError, "GOAWAY with last stream %d after %d", last, cc.lastID)
	}
	cc.lastID, cc.draining = last, true
	for i := 0; i < len(cc.streams); {
		st := cc.streams[i]
		if st.id <= last {
			i++
			continue
		}
		st.unprocessed = true
		cc.finish(st, &scenario.Fault{Kind: iikanji.FaultClosed, Step: -1, Message: "not processed: the target closes the connection, " + code.String()}, cc.heard)
	}
	cc.giveTurn()
	return nil
}
