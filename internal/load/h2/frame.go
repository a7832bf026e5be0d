package h2

import (
	"encoding/binary"
	"strconv"
)

// A FrameType is the type of a frame.
type FrameType uint8

// The types of RFC 9113, 6.
const (
	Data FrameType = iota
	Headers
	Priority
	ResetStream
	Settings
	PushPromise
	Ping
	GoAway
	WindowUpdate
	Continuation
)

var frameNames = [...]string{"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"}

// String returns the name of the type, or its number.
func (t FrameType) String() string {
	if int(t) < len(frameNames) {
		return frameNames[t]
	}
	return "frame type " + strconv.Itoa(int(t))
}

// Flags of frames. FlagEndStream and FlagAck have the same bit in different types.
const (
	FlagEndStream  = 0x01
	FlagAck        = 0x01
	FlagEndHeaders = 0x04
	FlagPadded     = 0x08
	FlagPriority   = 0x20
)

const (
	// HeaderSize is the size of a frame's header in bytes.
	HeaderSize = 9
	// MinMaxFrame is the smallest and default SETTINGS_MAX_FRAME_SIZE.
	MinMaxFrame = 1 << 14
	// MaxMaxFrame is the largest SETTINGS_MAX_FRAME_SIZE.
	MaxMaxFrame = 1<<24 - 1
	// DefaultWindow is the flow-control window before any SETTINGS and WINDOW_UPDATE.
	DefaultWindow = 1<<16 - 1
	// MaxWindow is the largest flow-control window.
	MaxWindow = 1<<31 - 1
	// DefaultTable is the default size of the dynamic table of HPACK in bytes.
	DefaultTable = 4096
	// Preface is what a client sends first.
	Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// A FrameHeader is the header of a frame.
type FrameHeader struct {
	Length int // of the payload
	Type   FrameType
	Flags  uint8
	Stream uint32
}

// Has reports whether a flag is set.
func (h *FrameHeader) Has(flag uint8) bool { return h.Flags&flag != 0 }

// ParseHeader reads the header of a frame from at least HeaderSize bytes.
func ParseHeader(b []byte) FrameHeader {
	_ = b[HeaderSize-1]
	return FrameHeader{Length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]), Type: FrameType(b[3]), Flags: b[4],
		Stream: binary.BigEndian.Uint32(b[5:]) & MaxWindow}
}

// AppendHeader appends the header of a frame.
func AppendHeader(b []byte, length int, t FrameType, flags uint8, stream uint32) []byte {
	return append(b, byte(length>>16), byte(length>>8), byte(length), byte(t), flags,
		byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream))
}

// SetLength writes the length of a frame whose header begins at b[0].
func SetLength(b []byte, length int) {
	b[0], b[1], b[2] = byte(length>>16), byte(length>>8), byte(length)
}

// AppendReset appends a RST_STREAM.
func AppendReset(b []byte, stream uint32, code Code) []byte {
	return binary.BigEndian.AppendUint32(AppendHeader(b, 4, ResetStream, 0, stream), uint32(code))
}

// AppendWindowUpdate appends a WINDOW_UPDATE. Stream 0 is the connection.
func AppendWindowUpdate(b []byte, stream uint32, n int) []byte {
	return binary.BigEndian.AppendUint32(AppendHeader(b, 4, WindowUpdate, 0, stream), uint32(n))
}

// AppendGoAway appends a GOAWAY of a client that accepted no stream of the server.
func AppendGoAway(b []byte, code Code) []byte {
	b = binary.BigEndian.AppendUint32(AppendHeader(b, 8, GoAway, 0, 0), 0)
	return binary.BigEndian.AppendUint32(b, uint32(code))
}

// AppendPing appends a PING with 8 bytes of data.
func AppendPing(b []byte, flags uint8, data []byte) []byte {
	return append(AppendHeader(b, 8, Ping, flags, 0), data[:8]...)
}

// A Setting is one parameter of a SETTINGS frame.
type Setting struct {
	ID    SettingID
	Value uint32
}

// A SettingID names a parameter.
type SettingID uint16

// The parameters of RFC 9113, 6.5.2.
const (
	HeaderTableSize SettingID = iota + 1
	EnablePush
	MaxConcurrentStreams
	InitialWindowSize
	MaxFrameSize
	MaxHeaderListSize
)

// AppendSettings appends a SETTINGS frame.
func AppendSettings(b []byte, list ...Setting) []byte {
	b = AppendHeader(b, 6*len(list), Settings, 0, 0)
	for _, s := range list {
		b = binary.BigEndian.AppendUint16(b, uint16(s.ID))
		b = binary.BigEndian.AppendUint32(b, s.Value)
	}
	return b
}

// SettingAt reads the i-th parameter of a SETTINGS frame's payload.
func SettingAt(payload []byte, i int) Setting {
	b := payload[6*i:]
	return Setting{SettingID(binary.BigEndian.Uint16(b)), binary.BigEndian.Uint32(b[2:])}
}

// Unpad returns the payload of a frame without its padding. ok is false if the
// padding is longer than the payload.
func Unpad(h *FrameHeader, payload []byte) (rest []byte, ok bool) {
	if !h.Has(FlagPadded) {
		return payload, true
	}
	if len(payload) == 0 || int(payload[0]) >= len(payload) {
		return nil, false
	}
	return payload[1 : len(payload)-int(payload[0])], true
}
