package rpc

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// answerOf makes an answer from "name: value" lines; those behind "--" are trailers.
func answerOf(status int, body string, fields ...string) *scenario.Response {
	res := &scenario.Response{Status: status, Body: []byte(body), Method: "POST", Path: "/a/b"}
	list := &res.Fields
	for _, f := range fields {
		if f == "--" {
			list = &res.Trailers
			continue
		}
		name, value, _ := strings.Cut(f, ": ")
		*list = append(*list, scenario.HeaderField{Name: []byte(name), Value: []byte(value)})
	}
	return res
}

// TestReplyOf reads the ends of calls as servers and proxies write them.
func TestReplyOf(t *testing.T) {
	const grpc = "content-type: application/grpc"
	for _, c := range []struct {
		res     *scenario.Response
		code    Code
		message string
		broken  bool
	}{
		{res: answerOf(200, "", grpc, "--", "grpc-status: 0")},
		{res: answerOf(200, "", grpc+"+proto", "--", "grpc-status: 5", "grpc-message: gone%20%E6%94%B9%zz%"), code: NotFound, message: "gone 改%zz%"},
		{res: answerOf(200, "", grpc, "grpc-status: 14", "grpc-message: \xff"), code: Unavailable, message: "\uFFFD"},
		{res: answerOf(200, "", grpc, "--", "grpc-status: 99"), code: 99},
		{res: answerOf(502, "<html>"), code: Unavailable, message: "HTTP status 502"},
		{res: answerOf(401, ""), code: Unauthenticated, message: "HTTP status 401"},
		{res: answerOf(404, ""), code: Unimplemented, message: "HTTP status 404"},
		{res: answerOf(403, ""), code: PermissionDenied, message: "HTTP status 403"},
		{res: answerOf(400, ""), code: Internal, message: "HTTP status 400"},
		{res: answerOf(500, ""), code: Unknown, message: "HTTP status 500"},
		{res: answerOf(200, "", grpc), broken: true},
		{res: answerOf(200, "", grpc, "--", "x: y"), broken: true},
		{res: answerOf(200, "", grpc, "--", "grpc-status: -1"), broken: true},
		{res: answerOf(200, "", "content-type: text/html", "--", "grpc-status: 0"), broken: true},
		{res: answerOf(200, "", grpc+"-web", "--", "grpc-status: 0"), broken: true},
		{res: answerOf(503, "", grpc, "--", "grpc-status: 0"), broken: true},
	} {
		r, err := replyOf(c.res)
		if c.broken != (scenario.KindOf(err) == iikanji.FaultProtocol) || !c.broken && (r.Code != c.code || r.Message != c.message) {
			t.Errorf("%s %s: %v %q %v", c.res.Fields, c.res.Trailers, r.Code, r.Message, err)
		}
	}
}

// TestDecodeOnly: answers that are not exactly one message.
func TestDecodeOnly(t *testing.T) {
	for body, kind := range map[string]iikanji.FaultKind{
		"\x00\x00\x00\x00\x03\x0a\x01a":         iikanji.FaultUnknown,
		"":                                      iikanji.FaultProtocol,
		"\x00\x00\x00\x00":                      iikanji.FaultProtocol,
		"\x01\x00\x00\x00\x03\x0a\x01a":         iikanji.FaultProtocol,
		"\x07\x00\x00\x00\x03\x0a\x01a":         iikanji.FaultProtocol,
		"\x00\xff\xff\xff\xff\x0a\x01a":         iikanji.FaultProtocol,
		"\x00\x00\x00\x00\x02\x0a\x01a":         iikanji.FaultProtocol,
		"\x00\x00\x00\x00\x03\x0a\x01a\x00\x00": iikanji.FaultProtocol,
		"\x00\x00\x00\x00\x03\x0a\x05a":         iikanji.FaultBody,
	} {
		out := wrapperspb.String("")
		err := decodeOnly(answerOf(200, body), out)
		if scenario.KindOf(err) != kind || err == nil && out.Value != "a" {
			t.Errorf("%q: %v and %q, want kind %v", body, err, out.Value, kind)
		}
	}
}

// TestTimeouts: the field grpc-timeout has at most eight digits.
func TestTimeouts(t *testing.T) {
	var l timeouts
	for d, want := range map[time.Duration]string{time.Nanosecond: "1u", 50 * time.Millisecond: "50000u", time.Second: "1000000u",
		100 * time.Second: "100000m", 30 * time.Hour: "108000S", 1e6 * time.Hour: "60000000M"} {
		if got := l.text(d); got != want || l.text(d) != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// FuzzReply reads any status, message and body without a panic.
func FuzzReply(f *testing.F) {
	f.Add(200, "0", "a%20b", []byte("\x00\x00\x00\x00\x03\x0a\x01a"))
	f.Add(502, "", "%", []byte(nil))
	f.Fuzz(func(t *testing.T, status int, code, message string, body []byte) {
		res := answerOf(status, string(body), "content-type: application/grpc", "--", "grpc-message: "+message, "grpc-status: "+code)
		if r, err := replyOf(res); err == nil && len(r.Message) > 3*len(message)+40 {
			t.Errorf("a message of %d bytes from %d", len(r.Message), len(message))
		}
		_ = decodeOnly(res, wrapperspb.String("")) // any error will do
	})
}
