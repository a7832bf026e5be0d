package peer

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
)

// mostFrame bounds the value of a call or an answer, in bytes.
const mostFrame = 64 << 20

// appendFrame appends a value behind its length: 4 bytes, the highest first. The value is
// in encoding/gob, which keeps names that are no UTF-8 as they are.
func appendFrame(b []byte, v any) ([]byte, error) {
	text, err := encode(v)
	if err != nil {
		return nil, err
	}
	if len(text) > mostFrame {
		return nil, fmt.Errorf("%d bytes are too many for one call", len(text))
	}
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...), nil
}

// readFrame reads what appendFrame wrote, and nothing behind it.
func readFrame(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return fmt.Errorf("reading the length of a frame: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > mostFrame {
		return fmt.Errorf("a frame of %d bytes is too long", n)
	}
	text, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return fmt.Errorf("reading a frame: %w", err)
	}
	if len(text) < int(n) {
		return fmt.Errorf("reading a frame: %w", io.ErrUnexpectedEOF)
	}
	if v == nil {
		return nil
	}
	if err := decode(text, v); err != nil {
		return fmt.Errorf("reading a frame: %w", err)
	}
	return nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func decode(text []byte, v any) error { return gob.NewDecoder(bytes.NewReader(text)).Decode(v) }

// An answer is the frame at the begin of an answer.
type answer struct {
	Err   *failure
	Value []byte // of encode
}
