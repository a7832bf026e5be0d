package otlp

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const hostile = `<script>document.title="pwned"</script>`

func textAttribute(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

// traces are a request with two statements, as protobuf.
func traces(t testing.TB, id byte) []byte {
	t.Helper()
	begin := uint64(1_700_000_000_000_000_000)
	trace := bytes.Repeat([]byte{id}, 16)
	span := func(n byte, kind tracepb.Span_SpanKind, name string, from, to uint64, attributes ...*commonpb.KeyValue) *tracepb.Span {
		s := &tracepb.Span{TraceId: trace, SpanId: bytes.Repeat([]byte{n}, 8), Kind: kind, Name: name, StartTimeUnixNano: begin + from, EndTimeUnixNano: begin + to, Attributes: attributes}
		if n > 1 {
			s.ParentSpanId = bytes.Repeat([]byte{1}, 8)
		}
		return s
	}
	status := &commonpb.KeyValue{Key: "http.response.status_code", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 500}}}
	b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{textAttribute("service.name", "app")}},
		ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{
			span(1, tracepb.Span_SPAN_KIND_SERVER, "GET", 0, 50e6, textAttribute("http.request.method", "GET"), textAttribute("http.route", "/isu/{id}"), status),
			span(2, tracepb.Span_SPAN_KIND_CLIENT, "select", 1e6, 11e6, textAttribute("db.system", "mysql"), textAttribute("db.query.text", "SELECT "+hostile)),
			span(3, tracepb.Span_SPAN_KIND_CLIENT, "select", 12e6, 32e6, textAttribute("db.system.name", "mysql")),
		}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// asJSON is the same request in the JSON form of OTLP.
const asJSON = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"app"}}]},"scopeSpans":[{"spans":[
{"traceId":"07070707070707070707070707070707","spanId":"0101010101010101","name":"GET","kind":2,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000050000000","attributes":[{"key":"http.method","value":{"stringValue":"GET"}},{"key":"http.target","value":{"stringValue":"/isu/:id?secret=1"}},{"key":"http.status_code","value":{"intValue":"500"}}]},
{"traceId":"07070707070707070707070707070707","spanId":"0202020202020202","parentSpanId":"0101010101010101","name":"select","kind":"SPAN_KIND_CLIENT","startTimeUnixNano":1700000000001000000,"endTimeUnixNano":1700000000011000000,"attributes":[{"key":"db.statement","value":{"stringValue":"SELECT 1"}}]}]}]}]}`

func post(t testing.TB, s *Store, media, encoding string, body []byte, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("POST", "/v1/traces", bytes.NewReader(body))
	r.Header.Set("Content-Type", media)
	r.Header.Set("Content-Encoding", encoding)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func TestReceive(t *testing.T) {
	s := NewStore(DefaultLimits)
	if w := post(t, s, "application/x-protobuf", "", traces(t, 1)); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Fatalf("status %d, %q", w.Code, w.Body)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(traces(t, 2))
	_ = z.Close()
	if w := post(t, s, "application/x-protobuf", "gzip", packed.Bytes()); w.Code != http.StatusOK {
		t.Fatalf("gzip: status %d, %q", w.Code, w.Body)
	}
	if w := post(t, s, "application/json; charset=utf-8", "", []byte(asJSON)); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != "{}" {
		t.Fatalf("JSON: status %d, %q", w.Code, w.Body)
	}
	routes := s.Routes()
	if len(routes) != 2 || routes[0].Name != "GET /isu/{id}" || routes[0].Count != 2 || routes[0].Failed != 2 || routes[0].Statements != 2 || routes[0].Database != 30*time.Millisecond || routes[0].P95 != 50*time.Millisecond {
		t.Errorf("routes %+v", routes)
	}
	if routes[1].Name != "GET /isu/:id" || routes[1].Statements != 1 { // the query is left out
		t.Errorf("routes %+v", routes)
	}
	if a, b, c := Shape(routes[0].Name), Shape(routes[1].Name), Shape("GET /isu/<id> (second page)"); a != b || a != c {
		t.Errorf("shapes %q, %q, %q", a, b, c)
	}
	tr := s.Trace(strings.Repeat("01", 16))
	if tr == nil || len(tr.Spans) != 3 || tr.Server().Status != 500 || tr.Spans[1].Statement != "SELECT "+hostile || tr.Spans[0].Service != "app" {
		t.Errorf("trace %+v", tr)
	}
	if slowest := s.Slowest(func(route string) bool { return route == "GET /isu/{id}" }, 2); len(slowest) != 2 || s.Trace("ff") != nil {
		t.Errorf("slowest %v", slowest)
	}
}

func TestRefused(t *testing.T) {
	s := NewStore(DefaultLimits)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, maxUnpacked+1))
	_ = z.Close()
	for _, c := range []struct {
		media, encoding string
		body            []byte
		status          int
	}{
		{"text/plain", "", nil, http.StatusUnsupportedMediaType},
		{"", "", nil, http.StatusUnsupportedMediaType},
		{"application/x-protobuf", "", []byte("no protobuf"), http.StatusBadRequest},
		{"application/json", "", []byte("{"), http.StatusBadRequest},
		{"application/json", "zstd", nil, http.StatusBadRequest},
		{"application/x-protobuf", "gzip", bomb.Bytes(), http.StatusRequestEntityTooLarge},
		{"application/x-protobuf", "", make([]byte, maxBody+1), http.StatusRequestEntityTooLarge},
	} {
		if w := post(t, s, c.media, c.encoding, c.body); w.Code != c.status {
			t.Errorf("%q, %q, %d bytes: status %d, want %d", c.media, c.encoding, len(c.body), w.Code, c.status)
		}
	}
	if w := post(t, s, "application/json", "", []byte(asJSON), "Origin", "http://evil.example"); w.Code != http.StatusForbidden {
		t.Errorf("a request of a browser: status %d", w.Code)
	}
	if w := post(t, s, "application/json", "", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1","spanId":"2"}]}]}]}`)); !strings.Contains(w.Body.String(), `"rejectedSpans":"1"`) {
		t.Errorf("a span without valid identifiers: %q", w.Body)
	}
	if w := post(t, s, "application/x-protobuf", "", badSpan(t)); hex.EncodeToString(w.Body.Bytes()) != "0a020801" {
		t.Errorf("the same in protobuf: %x", w.Body.Bytes())
	}
	if spans, traces, _ := s.Counts(); spans != 2 || traces != 0 {
		t.Errorf("%d spans, %d traces", spans, traces)
	}
}

func badSpan(t *testing.T) []byte {
	t.Helper()
	b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{Name: "x"}}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBounds: each limit holds, and the oldest traces leave first.
func TestBounds(t *testing.T) {
	span := func(trace, n int, text string) Span {
		return Span{Trace: fmt.Sprintf("%032x", trace), ID: fmt.Sprintf("%016x", n), Name: text, From: time.Unix(1, 0), To: time.Unix(2, 0)}
	}
	s := NewStore(Limits{Traces: 3, Spans: 2, Bytes: 1 << 20})
	for i := range 10 {
		s.Add([]Span{span(i, 1, "a")})
	}
	if refused := s.Add([]Span{span(9, 2, ""), span(9, 3, ""), span(9, 4, "")}); refused != 2 {
		t.Errorf("%d refused", refused)
	}
	if _, traces, gone := s.Counts(); traces != 3 || gone != 7 || s.Trace(fmt.Sprintf("%032x", 6)) != nil || s.Trace(fmt.Sprintf("%032x", 9)).Dropped != 2 {
		t.Errorf("%d traces, %d gone", traces, gone)
	}
	small := NewStore(Limits{Traces: 1000, Spans: 1000, Bytes: 10_000})
	for i := range 100 {
		small.Add([]Span{span(i, 1, strings.Repeat("x", 1000))})
	}
	if small.bytes > 10_000 || len(small.byID) != len(small.order) || len(small.order) < 5 {
		t.Errorf("%d bytes in %d traces", small.bytes, len(small.order))
	}
}

// FuzzDecode: no body panics, and texts are bounded and valid.
func FuzzDecode(f *testing.F) {
	f.Add("application/x-protobuf", traces(f, 1))
	f.Add("application/json", []byte(asJSON))
	f.Fuzz(func(t *testing.T, media string, body []byte) {
		spans, err := Decode(media, body)
		if err != nil {
			return
		}
		s := NewStore(Limits{Traces: 10, Spans: 10, Bytes: 1 << 20})
		s.Add(spans)
		s.Routes()
		for _, x := range spans {
			if len(x.Name)+len(x.Statement) > 2*(maxText+3) || x.Took() < 0 {
				t.Fatalf("%d bytes", len(x.Name)+len(x.Statement))
			}
		}
	})
}
