package otlp

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of one request.
const (
	maxBody     = 8 << 20  // as it is sent
	maxUnpacked = 32 << 20 // after decompression
)

// Handler receives traces at /v1/traces.
func (t *Store) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", t.receive)
	return mux
}

func (t *Store) receive(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Origin") != "" { // an app is no browser: a page must not fill the store
		http.Error(w, "requests of browsers are refused", http.StatusForbidden)
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		status := http.StatusBadRequest
		var long *http.MaxBytesError
		if errors.As(err, &long) || errors.Is(err, errLong) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, err.Error(), status)
		return
	}
	media := r.Header.Get("Content-Type")
	spans, err := Decode(media, body)
	if err != nil {
		status := http.StatusBadRequest
		var other *encodingError
		if errors.As(err, &other) {
			status = http.StatusUnsupportedMediaType
		}
		http.Error(w, err.Error(), status)
		return
	}
	answer(w, media, t.Add(spans))
}

var errLong = errors.New("the body is too long")

// readBody reads a body, also a gzipped one.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var from io.Reader = http.MaxBytesReader(w, r.Body, maxBody)
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, fmt.Errorf("reading the body: %w", err)
		}
		from = z
	default:
		return nil, errors.New("reading the body: the content encoding is neither gzip nor identity")
	}
	body, err := io.ReadAll(io.LimitReader(from, maxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	if len(body) > maxUnpacked {
		return nil, errLong
	}
	return body, nil
}

// answer writes an ExportTraceServiceResponse: its field 1 is the partial success,
// whose field 1 is the number of refused spans.
func answer(w http.ResponseWriter, media string, refused int) {
	if strings.HasPrefix(media, "application/json") {
		w.Header().Set("Content-Type", "application/json")
		out := map[string]any{}
		if refused > 0 {
			out["partialSuccess"] = map[string]any{"rejectedSpans": fmt.Sprint(refused), "errorMessage": "not valid, or beyond the limit of a trace"}
		}
		_ = json.NewEncoder(w).Encode(out) // the sender may be gone
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	if refused == 0 {
		return
	}
	partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(refused))
	_, _ = w.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial))
}
