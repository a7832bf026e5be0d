package bench

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// copyBody is the largest body that is copied behind the header, so that one
// system call sends both.
const copyBody = 32 << 10

// reservedFields are set by the client. A Request must not set them.
var reservedFields = []string{"host", "content-length", "connection", "cookie", "accept-encoding", "user-agent", "transfer-encoding"}

// encode appends a request to out, with the conditions that revalidate the cache
// entry e, if there is one. A body too large to copy is returned as rest.
func (c *client) encode(out []byte, r *scenario.Request, method string, e *entry) (req, rest []byte) {
	out = append(out, method...)
	out = append(out, ' ')
	out = append(out, r.Path...)
	out = append(out, c.fixed...)
	out = c.jar.write(out, r.Path)
	for _, f := range r.Header {
		out = appendField(out, f.Name, f.Value)
	}
	if e != nil {
		if e.etag != "" {
			out = appendField(out, "If-None-Match", e.etag)
		}
		if e.modified != "" {
			out = appendField(out, "If-Modified-Since", e.modified)
		}
	}
	if r.ContentType != "" {
		out = appendField(out, "Content-Type", r.ContentType)
	}
	if len(r.Body) > 0 || hasBody(method) {
		out = append(out, "Content-Length: "...)
		out = strconv.AppendInt(out, int64(len(r.Body)), 10)
		out = append(out, "\r\n"...)
	}
	out = append(out, "\r\n"...)
	if len(r.Body) <= copyBody {
		return append(out, r.Body...), nil
	}
	return out, r.Body
}

func appendField(out []byte, name, value string) []byte {
	out = append(out, name...)
	out = append(out, ": "...)
	out = append(out, value...)
	return append(out, "\r\n"...)
}

// hasBody reports whether requests with this method have a body, if only an empty one.
func hasBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// fixedLines returns the lines that are the same in every request of a browser.
func fixedLines(host, agent string, gzip bool) string {
	s := " HTTP/1.1\r\nHost: " + host + "\r\n"
	if agent != "" {
		s += "User-Agent: " + agent + "\r\n"
	}
	if gzip {
		s += "Accept-Encoding: gzip\r\n"
	}
	return s
}

// checkRequest rejects parts that would break the request's framing. They may
// come from answers of a hostile target.
func checkRequest(r *scenario.Request, method string) error {
	for i := 0; i < len(method); i++ {
		if lowered[method[i]] == 0 {
			return protocol("method %.40q is not a token", method)
		}
	}
	if r.Path == "" || r.Path[0] != '/' {
		return protocol("path %.60q does not begin with a slash", r.Path)
	}
	for i := 0; i < len(r.Path); i++ {
		if c := r.Path[i]; c <= ' ' || c >= 0x7f {
			return protocol("path %.60q is not escaped", r.Path)
		}
	}
	for i := range r.Header {
		if err := checkField(&r.Header[i]); err != nil {
			return err
		}
	}
	if strings.ContainsAny(r.ContentType, "\r\n\x00") {
		return protocol("content type %.60q has a line end", r.ContentType)
	}
	return nil
}

func checkField(f *scenario.Field) error {
	if f.Name == "" || strings.ContainsAny(f.Value, "\r\n\x00") {
		return protocol("header field %.40q: %.60q is empty or has a line end", f.Name, f.Value)
	}
	for i := 0; i < len(f.Name); i++ {
		if lowered[f.Name[i]] == 0 {
			return protocol("header name %.60q", f.Name)
		}
	}
	if isOneOf(f.Name, reservedFields...) {
		return protocol("header field %s is set by the browser, not by the request", f.Name)
	}
	return nil
}

// isOneOf reports whether a name is in a list, in any case.
func isOneOf(s string, names ...string) bool {
	for _, name := range names {
		if len(name) == len(s) && strings.EqualFold(name, s) {
			return true
		}
	}
	return false
}

// safe reports whether a request with this method changes nothing on the target
// (RFC 9110, 9.2.1).
func safe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// idempotent reports whether a request with this method may be sent twice (RFC
// 9110, 9.2.2).
func idempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete, http.MethodTrace:
		return true
	}
	return false
}
