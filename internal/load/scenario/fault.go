package scenario

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
)

// A Fault is an error of one request or check. The engine groups reported
// faults by Kind, Step and Check.
type Fault struct {
	Kind    iikanji.FaultKind
	Step    Step // -1 for none
	Check   string
	Message string
	Example *iikanji.Example
	Cause   error
	// Weight is the number of errors as which the score counts the fault; 0 means 1.
	Weight int64
	// Counted is set by the engine when Do has already counted this fault as an
	// error of its step, so that Report does not count it twice.
	Counted bool
}

// Error returns the kind, the check, the request and the message in one line.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	if f.Check != "" {
		b.WriteString(" " + f.Check)
	}
	if f.Example != nil {
		b.WriteString(": " + f.Example.Request)
	}
	b.WriteString(": " + f.Message)
	return b.String()
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// KindOf returns the kind of the fault in err's chain, FaultUnknown for none.
func KindOf(err error) iikanji.FaultKind {
	var f *Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return iikanji.FaultUnknown
}

// Wrong returns a failed check of an answer. res may be nil. check is the stable
// name of the check, as in "trend-backwards".
func Wrong(res *Response, check, format string, args ...any) *Fault {
	f := &Fault{Kind: iikanji.FaultCheck, Step: -1, Check: check, Message: fmt.Sprintf(format, args...)}
	if res != nil {
		f.Step, f.Example = res.Step, ExampleOf(res)
	}
	return f
}

// exampleBytes limits the body in an example.
const exampleBytes = 200

// ExampleOf describes an answer: request line, status and the beginning of the
// body. It contains no cookies and no request body.
func ExampleOf(res *Response) *iikanji.Example {
	return &iikanji.Example{
		Request: res.Method + " " + res.Path,
		Status:  res.Status,
		Body:    Excerpt(res.Body),
	}
}

// Excerpt returns the beginning of a body for an example: whole characters, with
// invalid UTF-8 replaced.
func Excerpt(body []byte) string {
	if len(body) > exampleBytes {
		n := exampleBytes
		for n > exampleBytes-utf8.UTFMax && !utf8.RuneStart(body[n]) {
			n--
		}
		body = body[:n]
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}
