package rpc

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// prefix is the length of what stands before each message: a byte that is 1 for a
// compressed message, and the length of the message in four bytes, big-endian.
const prefix = 5

// appendMessage appends a message with its prefix.
func appendMessage(b []byte, m proto.Message) ([]byte, error) {
	at := len(b)
	b = append(b, 0, 0, 0, 0, 0)
	b, err := proto.MarshalOptions{}.MarshalAppend(b, m)
	if err != nil {
		return b, fmt.Errorf("encoding a message: %w", err)
	}
	binary.BigEndian.PutUint32(b[at+1:], uint32(len(b)-at-prefix))
	return b, nil
}

// lengthOf reads a prefix, which must be complete.
func lengthOf(b []byte) (n int, compressed bool, err error) {
	if b[0] > 1 {
		return 0, false, fmt.Errorf("a message begins with byte %d", b[0])
	}
	return int(binary.BigEndian.Uint32(b[1:prefix])), b[0] == 1, nil
}

// decodeOnly decodes the one message of a unary answer.
func decodeOnly(res *scenario.Response, out proto.Message) error {
	body := res.Body
	if len(body) < prefix {
		return broken(res, "status OK with %d bytes, which is no message", len(body))
	}
	n, compressed, err := lengthOf(body)
	switch rest := len(body) - prefix - n; {
	case err != nil:
		return broken(res, "%v", err)
	case compressed:
		return broken(res, "a compressed message, which was not asked for")
	case rest < 0:
		return broken(res, "the message ends after %d of %d bytes", len(body)-prefix, n)
	case rest > 0:
		return broken(res, "%d bytes after the message of a unary call", rest)
	}
	return decode(res, body[prefix:], out)
}

func decode(res *scenario.Response, body []byte, out proto.Message) error {
	if err := proto.Unmarshal(body, out); err != nil {
		return &scenario.Fault{Kind: iikanji.FaultBody, Step: res.Step, Message: "protobuf: " + err.Error(), Example: exampleOf(res), Cause: err}
	}
	return nil
}

// brokenRequest is the fault of a message that cannot be sent.
func brokenRequest(step scenario.Step, err error) *scenario.Fault {
	return &scenario.Fault{Kind: iikanji.FaultCheck, Step: step, Check: "internal", Message: err.Error(), Cause: err}
}
