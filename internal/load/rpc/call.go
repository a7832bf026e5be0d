package rpc

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A Call names a method and how it is called. It may be reused.
type Call struct {
	Step   scenario.Step
	Method string // "/package.Service/Method"
	// Metadata holds further header fields, names in lower case.
	Metadata []scenario.Field
	// Timeout limits the call and is sent to the service as its deadline. 0 means the
	// client's timeout, and scenario.NoTimeout the end of the phase: both are not sent.
	Timeout time.Duration
	// Due is the scheduled time of the call, from which latency counts.
	Due time.Time
	// Quiet calls count in their step, but their errors do not.
	Quiet bool
}

// contentType is that of requests. Answers may have a suffix as in "+proto".
const contentType = "application/grpc"

// A buffer holds what a call needs to be sent.
type buffer struct {
	req    scenario.Request
	body   []byte
	header []scenario.Field
	limits timeouts
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// request fills in the request of a call.
func (b *buffer) request(call *Call) *scenario.Request {
	b.header = append(b.header[:0], scenario.Field{Name: "te", Value: "trailers"})
	if call.Timeout > 0 && call.Timeout < scenario.NoTimeout {
		b.header = append(b.header, scenario.Field{Name: "grpc-timeout", Value: b.limits.text(call.Timeout)})
	}
	b.header = append(b.header, call.Metadata...)
	b.req = scenario.Request{Step: call.Step, Method: "POST", Path: call.Method, Header: b.header, ContentType: contentType,
		Timeout: call.Timeout, Due: call.Due, Quiet: call.Quiet, NoStore: true}
	return &b.req
}

// free gives the buffer back. A rare large message must not occupy memory for long.
func (b *buffer) free() {
	const keep = 64 << 10
	if b.req = (scenario.Request{}); cap(b.body) > keep {
		b.body = nil
	}
	clear(b.header)
	buffers.Put(b)
}

// timeouts keeps the latest text of a deadline: a call is made with the same one
// again and again.
type timeouts struct {
	of   time.Duration
	said string
}

// text returns a duration in the form of the field grpc-timeout: at most eight
// digits and a unit, rounded up.
func (t *timeouts) text(d time.Duration) string {
	if t.of == d && t.said != "" {
		return t.said
	}
	const digits = 100_000_000
	t.of = d
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Microsecond, "u"}, {time.Millisecond, "m"}, {time.Second, "S"}, {time.Minute, "M"}, {time.Hour, "H"}} {
		if n := (d + u.unit - 1) / u.unit; n < digits {
			t.said = strconv.FormatInt(int64(n), 10) + u.name
			break
		}
	}
	return t.said
}

// Do makes a unary call: it sends in, waits for the end of the answer, and, if the
// status is OK, decodes the message into out. A status other than OK is no error.
// The error is nil or a *scenario.Fault: a fault of the exchange, of kind protocol for
// an answer that is not a unary answer of gRPC, or of kind body for a message that
// cannot be decoded. The caller must call Reply.Release after a call without error.
func Do(ctx context.Context, cl scenario.Client, call *Call, in, out proto.Message) (Reply, error) {
	b := buffers.Get().(*buffer)
	defer b.free()
	req := b.request(call)
	var err error
	if b.body, err = appendMessage(b.body[:0], in); err != nil {
		return Reply{}, brokenRequest(call.Step, err)
	}
	req.Body = b.body
	began := time.Now()
	res, err := cl.Do(ctx, req)
	if err != nil {
		// Both ends count the deadline: a service may end the stream first, as grpc-go does.
		if call.Timeout > 0 && time.Since(began) >= call.Timeout && scenario.KindOf(err) == iikanji.FaultClosed {
			err = &scenario.Fault{Kind: iikanji.FaultTimeout, Step: call.Step, Message: fmt.Sprintf("no answer within %v: the target ended the stream", call.Timeout)}
		}
		return Reply{}, err
	}
	r, err := replyOf(res)
	if err == nil && r.Code == OK {
		err = decodeOnly(res, out)
	}
	if err != nil {
		res.Release()
		return Reply{}, err
	}
	r.owns = true
	return r, nil
}
