package bench

import (
	"encoding/binary"

	"github.com/iikanji/iikanji/internal/load/h2"
)

func (cc *h2conn) onSettings(h *h2.FrameHeader, payload []byte) error {
	switch {
	case h.Stream != 0:
		return broke(h2.ProtocolError, "SETTINGS of stream %d", h.Stream)
	case h.Has(h2.FlagAck) && len(payload) > 0, len(payload)%6 != 0:
		return broke(h2.FrameSizeError, "SETTINGS of %d bytes", len(payload))
	case h.Has(h2.FlagAck):
		return nil
	}
	cc.settled = true
	for i := range len(payload) / 6 {
		if err := cc.set(h2.SettingAt(payload, i)); err != nil {
			return err
		}
	}
	if err := cc.answer(); err != nil {
		return err
	}
	cc.out = h2.AppendHeader(cc.out, 0, h2.Settings, h2.FlagAck, 0)
	cc.giveTurn()
	cc.pump()
	return nil
}

// set follows one setting of the target. Unknown ones are ignored.
func (cc *h2conn) set(s h2.Setting) error {
	switch s.ID {
	case h2.HeaderTableSize:
		cc.enc.SetMax(int(min(s.Value, h2.DefaultTable)))
	case h2.EnablePush:
		if s.Value != 0 {
			return broke(h2.ProtocolError, "SETTINGS_ENABLE_PUSH of a server is %d", s.Value)
		}
	case h2.MaxConcurrentStreams:
		cc.peer.streams = int(min(s.Value, h2.MaxWindow))
	case h2.InitialWindowSize:
		if s.Value > h2.MaxWindow {
			return broke(h2.FlowControlError, "SETTINGS_INITIAL_WINDOW_SIZE %d", s.Value)
		}
		return cc.moveWindows(int64(s.Value))
	case h2.MaxFrameSize:
		if s.Value < h2.MinMaxFrame || s.Value > h2.MaxMaxFrame {
			return broke(h2.ProtocolError, "SETTINGS_MAX_FRAME_SIZE %d", s.Value)
		}
		cc.peer.maxFrame = int(s.Value)
	case h2.MaxHeaderListSize:
		cc.peer.maxList = int64(s.Value)
	}
	return nil
}

// moveWindows changes the windows of all streams (RFC 9113, 6.9.2). They may become
// negative.
func (cc *h2conn) moveWindows(size int64) error {
	by := size - cc.peer.window
	cc.peer.window = size
	for _, st := range cc.streams {
		if st.sendWindow += by; st.sendWindow > h2.MaxWindow {
			return broke(h2.FlowControlError, "SETTINGS_INITIAL_WINDOW_SIZE %d makes a window too large", size)
		}
	}
	return nil
}

// answer counts a frame that answers one of the target. A target that sends many
// and does not read the answers must not fill the memory.
func (cc *h2conn) answer() error {
	if cc.answers += h2.HeaderSize + 8; cc.answers > h2Answers {
		return broke(h2.EnhanceYourCalm, "the target does not read the answers to its own frames")
	}
	return nil
}

func (cc *h2conn) onPing(h *h2.FrameHeader, payload []byte) error {
	if len(payload) != 8 {
		return broke(h2.FrameSizeError, "PING of %d bytes", len(payload))
	}
	if h.Stream != 0 {
		return broke(h2.ProtocolError, "PING of stream %d", h.Stream)
	}
	if h.Has(h2.FlagAck) {
		return nil
	}
	if err := cc.answer(); err != nil {
		return err
	}
	cc.out = h2.AppendPing(cc.out, h2.FlagAck, payload)
	return nil
}

func (cc *h2conn) onWindow(h *h2.FrameHeader, payload []byte) error {
	if len(payload) != 4 {
		return broke(h2.FrameSizeError, "WINDOW_UPDATE of %d bytes", len(payload))
	}
	n := int64(binary.BigEndian.Uint32(payload) & h2.MaxWindow)
	if h.Stream == 0 {
		if n == 0 {
			return broke(h2.ProtocolError, "WINDOW_UPDATE by 0")
		}
		if cc.sendWindow += n; cc.sendWindow > h2.MaxWindow {
			return broke(h2.FlowControlError, "WINDOW_UPDATE makes the connection's window too large")
		}
		cc.pump()
		return nil
	}
	if err := cc.opened(h); err != nil {
		return err
	}
	st := cc.open(h.Stream)
	switch {
	case st == nil:
	case n == 0:
		cc.reject(st, h2.ProtocolError, protocol("WINDOW_UPDATE by 0"))
	case st.sendWindow+n > h2.MaxWindow:
		cc.reject(st, h2.FlowControlError, protocol("WINDOW_UPDATE makes the stream's window too large"))
	default:
		st.sendWindow += n
		cc.pump()
	}
	return nil
}
