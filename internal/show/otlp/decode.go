package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime"
	"strconv"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// An encodingError is the error for a body in another encoding.
type encodingError struct{ media string }

func (e *encodingError) Error() string {
	return fmt.Sprintf("the content type %q is neither application/x-protobuf nor application/json", e.media)
}

// Decode reads the body of a request. media is its content type.
func Decode(media string, body []byte) ([]Span, error) {
	kind, _, err := mime.ParseMediaType(media)
	if err != nil {
		return nil, &encodingError{media}
	}
	switch kind {
	case "application/x-protobuf":
		return decodeProto(body)
	case "application/json":
		return decodeJSON(body)
	}
	return nil, &encodingError{media}
}

// decodeProto reads an ExportTraceServiceRequest. TracesData has the same fields.
func decodeProto(body []byte) ([]Span, error) {
	var data tracepb.TracesData
	if err := proto.Unmarshal(body, &data); err != nil {
		return nil, fmt.Errorf("reading the spans: %w", err)
	}
	var out []Span
	for _, r := range data.ResourceSpans {
		service := ""
		for _, a := range r.GetResource().GetAttributes() {
			if a.GetKey() == serviceName {
				service = clip(a.GetValue().GetStringValue())
			}
		}
		for _, scope := range r.GetScopeSpans() {
			for _, p := range scope.GetSpans() {
				out = append(out, spanOf(p, service))
			}
		}
	}
	return out, nil
}

// serviceName is the attribute of a resource with the name of the program.
const serviceName = "service.name"

func spanOf(p *tracepb.Span, service string) Span {
	s := Span{Trace: hex.EncodeToString(p.GetTraceId()), ID: hex.EncodeToString(p.GetSpanId()), Parent: hex.EncodeToString(p.GetParentSpanId()), Name: clip(p.GetName()), Service: service,
		Server: p.GetKind() == tracepb.Span_SPAN_KIND_SERVER, From: at(p.GetStartTimeUnixNano()), To: at(p.GetEndTimeUnixNano()),
		Failed: p.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR}
	for i, a := range p.GetAttributes() {
		if i == maxSpanAttrs {
			break
		}
		text, number := valueOf(a.GetValue())
		s.attribute(a.GetKey(), text, number)
	}
	return s
}

func valueOf(v *commonpb.AnyValue) (text string, number int64) {
	switch x := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		number, _ = strconv.ParseInt(x.StringValue, 10, 64)
		return x.StringValue, number
	case *commonpb.AnyValue_IntValue:
		return strconv.FormatInt(x.IntValue, 10), x.IntValue
	}
	return "", 0
}

// at is a time in nanoseconds since 1970; one beyond the range of time.Time is 0.
func at(ns uint64) time.Time {
	if ns > 1<<62 {
		ns = 0
	}
	return time.Unix(0, int64(ns)).UTC()
}

// jsonTraces is the JSON form: the fields that are shown. Numbers of 64 bits are
// strings, but some senders write them as numbers.
type jsonTraces struct {
	ResourceSpans []struct {
		Resource struct {
			Attributes []jsonAttribute `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []struct {
			Spans []jsonSpan `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type jsonSpan struct {
	TraceID      string          `json:"traceId"`
	SpanID       string          `json:"spanId"`
	ParentSpanID string          `json:"parentSpanId"`
	Name         string          `json:"name"`
	Kind         looseInt        `json:"kind"`
	Start        looseInt        `json:"startTimeUnixNano"`
	End          looseInt        `json:"endTimeUnixNano"`
	Attributes   []jsonAttribute `json:"attributes"`
	Status       struct {
		Code looseInt `json:"code"`
	} `json:"status"`
}

type jsonAttribute struct {
	Key   string `json:"key"`
	Value struct {
		String *string   `json:"stringValue"`
		Int    *looseInt `json:"intValue"`
	} `json:"value"`
}

// A looseInt is a number, or a number in a string, or the name of one of the two
// enums.
type looseInt int64

var enumNumbers = map[string]looseInt{"SPAN_KIND_SERVER": looseInt(tracepb.Span_SPAN_KIND_SERVER), "STATUS_CODE_ERROR": looseInt(tracepb.Status_STATUS_CODE_ERROR)}

// UnmarshalJSON implements json.Unmarshaler.
func (n *looseInt) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(b) > 1 && b[0] == '"' {
		text = string(b[1 : len(b)-1])
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		*n = enumNumbers[text] // 0 for other names
		return nil
	}
	*n = looseInt(v)
	return nil
}

func decodeJSON(body []byte) ([]Span, error) {
	var data jsonTraces
	if err := json.Unmarshal(body, &data); err != nil {
		return nil, fmt.Errorf("reading the spans: %w", err)
	}
	var out []Span
	for _, r := range data.ResourceSpans {
		service := ""
		for _, a := range r.Resource.Attributes {
			if a.Key == serviceName && a.Value.String != nil {
				service = clip(*a.Value.String)
			}
		}
		for _, scope := range r.ScopeSpans {
			for i := range scope.Spans {
				out = append(out, scope.Spans[i].span(service))
			}
		}
	}
	return out, nil
}

func (p *jsonSpan) span(service string) Span {
	s := Span{Trace: hexOf(p.TraceID, 16), ID: hexOf(p.SpanID, 8), Parent: hexOf(p.ParentSpanID, 8), Name: clip(p.Name), Service: service, Server: p.Kind == looseInt(tracepb.Span_SPAN_KIND_SERVER),
		From: at(uint64(max(p.Start, 0))), To: at(uint64(max(p.End, 0))), Failed: p.Status.Code == looseInt(tracepb.Status_STATUS_CODE_ERROR)}
	for i, a := range p.Attributes {
		if i == maxSpanAttrs {
			break
		}
		switch {
		case a.Value.String != nil:
			number, _ := strconv.ParseInt(*a.Value.String, 10, 64)
			s.attribute(a.Key, *a.Value.String, number)
		case a.Value.Int != nil:
			s.attribute(a.Key, strconv.FormatInt(int64(*a.Value.Int), 10), int64(*a.Value.Int))
		}
	}
	return s
}

// hexOf is an identifier in lower-case hex. OTLP has hex in JSON; senders that use
// the standard JSON form of protobuf have base64.
func hexOf(text string, size int) string {
	if b, err := hex.DecodeString(text); err == nil && len(b) == size {
		return hex.EncodeToString(b)
	}
	if b, err := base64.StdEncoding.DecodeString(text); err == nil && len(b) == size {
		return hex.EncodeToString(b)
	}
	return ""
}
