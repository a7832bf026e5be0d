package rpc

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A Reply is the end of a call.
type Reply struct {
	Code    Code
	Message string // of the status, decoded; "" for none
	// FromHTTP is set when the answer had no status of gRPC, and Code is that of its
	// HTTP status, as of a 502 of a proxy.
	FromHTTP bool

	res  *scenario.Response
	owns bool // Release frees res
}

// Header returns a field of the answer's header, "" if there is none. name must be
// in lower case.
func (r *Reply) Header(name string) string { return r.res.Get(name) }

// Trailer returns a field of the trailers. ok is false if there is none. A service
// that fails at once may send them as its only header, which is looked at too. name
// must be in lower case. The value of a name that ends in -bin is decoded.
func (r *Reply) Trailer(name string) (value []byte, ok bool) {
	value, ok = trailer(r.res, name)
	if !ok || !strings.HasSuffix(name, "-bin") {
		return value, ok
	}
	text := bytes.TrimRight(value, "=")
	value, err := base64.RawStdEncoding.AppendDecode(nil, text)
	return value, err == nil
}

// Response returns the answer as HTTP, for checks of other kinds. It is valid until
// Release.
func (r *Reply) Response() *scenario.Response { return r.res }

// Release returns the answer's buffers. A reply of a Stream needs no Release.
func (r *Reply) Release() {
	if r.owns {
		r.res.Release()
	}
	*r = Reply{}
}

func trailer(res *scenario.Response, name string) (value []byte, ok bool) {
	if value, ok = res.Trailer(name); ok || len(res.Trailers) > 0 {
		return value, ok
	}
	for i := range res.Fields {
		if string(res.Fields[i].Name) == name {
			return res.Fields[i].Value, true
		}
	}
	return nil, false
}

// replyOf reads the status of a complete answer.
func replyOf(res *scenario.Response) (Reply, error) {
	r := Reply{res: res}
	text, ok := trailer(res, "grpc-status")
	switch {
	case !ok && res.Status != 200:
		r.Code, r.FromHTTP = codeOfHTTP(res.Status), true
		r.Message = "HTTP status " + strconv.Itoa(res.Status)
		return r, nil
	case !ok:
		return r, broken(res, "the answer has no grpc-status")
	case res.Status != 200:
		return r, broken(res, "grpc-status with HTTP status %d", res.Status)
	case !isGRPC(res.Get("content-type")):
		return r, broken(res, "content type %.60q, want %s", res.Get("content-type"), contentType)
	}
	code, err := strconv.ParseUint(string(text), 10, 32)
	if err != nil {
		return r, broken(res, "grpc-status %.40q", text)
	}
	r.Code = Code(code)
	if text, ok = trailer(res, "grpc-message"); ok {
		r.Message = unescape(text)
	}
	return r, nil
}

// isGRPC reports whether a content type is that of gRPC with protobuf messages.
func isGRPC(s string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(s), contentType)
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// unescape decodes a grpc-message. Invalid escapes stay as they are, and bytes that
// are not UTF-8 are replaced, as the specification wants it.
func unescape(text []byte) string {
	if bytes.IndexByte(text, '%') < 0 {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(string(text[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

// broken is the fault of an answer that is not gRPC.
func broken(res *scenario.Response, format string, args ...any) *scenario.Fault {
	return &scenario.Fault{Kind: iikanji.FaultProtocol, Step: res.Step, Check: "gRPC", Message: fmt.Sprintf(format, args...), Example: exampleOf(res)}
}

// exampleOf describes an answer without its body, which is not a text.
func exampleOf(res *scenario.Response) *iikanji.Example {
	return &iikanji.Example{Request: res.Method + " " + res.Path, Status: res.Status}
}

// WantCode checks the status of a call.
func WantCode(r *Reply, code Code) error {
	if r.Code == code {
		return nil
	}
	got := r.Code.String()
	if r.Message != "" {
		got += fmt.Sprintf(" (%.100s)", r.Message)
	}
	return &scenario.Fault{Kind: iikanji.FaultStatus, Step: r.res.Step, Message: fmt.Sprintf("gRPC status %s, want %v", got, code), Example: exampleOf(r.res)}
}

// Wrong returns a failed check of a call, as scenario.Wrong does of an answer.
func Wrong(r *Reply, check, format string, args ...any) *scenario.Fault {
	return &scenario.Fault{Kind: iikanji.FaultCheck, Step: r.res.Step, Check: check, Message: fmt.Sprintf(format, args...), Example: exampleOf(r.res)}
}
