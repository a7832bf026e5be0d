package rpc

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// maxMessage limits a received message in bytes, as gRPC's own clients do.
const maxMessage = 4 << 20

// A Stream is a call with messages in both directions. Send may be called from one
// goroutine and the other methods from another.
type Stream struct {
	st   scenario.Stream
	step scenario.Step
	out  []byte // the message being sent
	in   []byte // the message being received, with its prefix

	sent, received int64 // of the latest message, with its prefix
	ended          bool  // the request is complete
}

// Open begins a call with messages in both directions, or in one. The call counts
// once in its step when it ends, as [scenario.Stream] says. The caller must call
// Close.
func Open(ctx context.Context, cl scenario.Client, call *Call) (*Stream, error) {
	b := buffers.Get().(*buffer)
	defer b.free()
	st, err := cl.Open(ctx, b.request(call))
	if err != nil {
		return nil, err
	}
	return &Stream{st: st, step: call.Step}, nil
}

// Send sends a message.
func (s *Stream) Send(m proto.Message) error {
	var err error
	if s.out, err = appendMessage(s.out[:0], m); err != nil {
		return brokenRequest(s.step, err)
	}
	s.sent = int64(len(s.out))
	return s.st.Send(s.out, false)
}

// CloseSend ends the messages of the client.
func (s *Stream) CloseSend() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.st.Send(nil, true)
}

// Recv waits for a message and decodes it into m. It returns io.EOF after the last
// one; Finish then returns the status.
func (s *Stream) Recv(m proto.Message) error {
	res, err := s.st.Head()
	if err != nil {
		return err
	}
	if res.Status != 200 || !isGRPC(res.Get("content-type")) {
		return io.EOF // Finish says what it is
	}
	switch err := s.fill(0, prefix); {
	case err == io.EOF && len(s.in) == 0:
		return io.EOF
	case err == io.EOF:
		return broken(res, "the answer ends within the prefix of a message")
	case err != nil:
		return err
	}
	n, compressed, err := lengthOf(s.in)
	switch {
	case err != nil:
		return broken(res, "%v", err)
	case compressed:
		return broken(res, "a compressed message, which was not asked for")
	case n > maxMessage:
		return broken(res, "a message of %d bytes, at most %d are read", n, maxMessage)
	}
	switch err := s.fill(prefix, n); {
	case err == io.EOF:
		return broken(res, "the message ends after %d of %d bytes", len(s.in)-prefix, n)
	case err != nil:
		return err
	}
	s.received = int64(len(s.in))
	return decode(res, s.in[prefix:], m)
}

// fill reads n bytes into s.in behind its first at. The memory grows with what
// arrives, not with what was announced.
func (s *Stream) fill(at, n int) error {
	const piece = 32 << 10
	s.in = s.in[:at]
	for len(s.in) < at+n {
		room := min(at+n-len(s.in), piece)
		s.in = append(s.in, make([]byte, room)...)
		got, err := s.st.Read(s.in[len(s.in)-room:])
		s.in = s.in[:len(s.in)-room+got]
		if err != nil {
			return err
		}
	}
	return nil
}

// A Turn is a message and its answer within a stream, which counts in a step of its
// own.
type Turn struct {
	Step scenario.Step
	Due  time.Time // latency counts from Due, or from the start of sending if Due is zero
}

// Exchange sends a message, waits for one, and counts both as an exchange of their
// own. A stream that ends instead is a fault of kind closed; Finish then returns the
// status.
func (s *Stream) Exchange(turn Turn, in, out proto.Message) error {
	t := scenario.Turn{Step: turn.Step, Due: turn.Due, Start: time.Now()}
	s.sent, s.received = 0, 0
	err := s.Send(in)
	if err == nil {
		err = s.Recv(out)
	}
	if err == io.EOF {
		err = &scenario.Fault{Kind: iikanji.FaultClosed, Step: turn.Step, Message: "the stream ended instead of an answer", Cause: err}
	}
	var f *scenario.Fault
	if errors.As(err, &f) {
		own := *f // the stream returns the same fault to other calls
		own.Step, own.Counted = turn.Step, true
		t.Fault, err = own.Kind, &own
	}
	t.End, t.Sent, t.Received = time.Now(), s.sent, s.received
	s.st.Count(&t)
	return err
}

// Finish ends the messages of the client and returns the status of the call. The
// service must send no further message. The Reply is valid until Close.
func (s *Stream) Finish() (Reply, error) {
	if err := s.CloseSend(); err != nil {
		return Reply{}, err
	}
	var one [1]byte
	res, err := s.st.Head()
	if err != nil {
		return Reply{}, err
	}
	if res.Status == 200 && isGRPC(res.Get("content-type")) {
		switch n, err := s.st.Read(one[:]); {
		case n > 0:
			return Reply{}, broken(res, "another message instead of the end")
		case err != io.EOF:
			return Reply{}, err
		}
	}
	if res, err = s.st.End(); err != nil {
		return Reply{}, err
	}
	return replyOf(res)
}

// Close frees the stream. A stream that is not over is cancelled.
func (s *Stream) Close() { s.st.Close() }
