package accesslog

import "bytes"

// A record holds the fields of one line. It is reused for every line; its
// slices point into the block and are valid until the next line.
type record struct {
	uri    []byte // as logged, with its query; empty if the line has no request
	query  []byte // if the format logs it separately
	method method
	verb   []byte // the method if it is not in methods
	status int
	// Times are in ns, sizes in bytes; -1 if the line has none.
	took, upstream int64
	size, reqSize  int64
	at             int64  // ns since 1970; noTime if the line has no timestamp
	host, agent    []byte // only if needed, see optional
	user, addr     []byte
	referer        []byte
	backend        []byte
}

const noTime = -1 << 63

// clear resets all fields.
func (r *record) clear() {
	*r = record{took: -1, upstream: -1, size: -1, reqSize: -1, at: noTime}
}

// A field is the meaning of one part of a line.
type field uint8

const (
	skipped  field = iota // not counted
	request               // "GET /path HTTP/1.1"
	verb                  // the method alone
	uri                   // path and query
	path                  // path without query
	query                 // query alone, without "?"
	status                //
	size                  // bytes of the response
	reqSize               // bytes of the request
	took                  // time of the request
	upstream              // time of the upstream, perhaps of several: "0.001, 0.002"
	stamp                 // time of the request: 19/Nov/2026:04:04:05 +0900, ISO 8601 or seconds since 1970
	host                  // virtual host
	agent                 // user agent
	user                  // authenticated user
	duration              // a time with its unit: "1.2ms", "0.5s"
	address               // address of the client
	referer               // URL of the page with the link
	part                  // a part of the time of the request; the parts add up
	backend               // address of the server behind a proxy that answered
	nFields
)

var fieldWords = [nFields]string{"skipped", "request", "method", "uri", "path", "query", "status", "size",
	"request-size", "time", "upstream", "timestamp", "host", "user-agent", "user", "duration", "address", "referer", "part", "backend"}

func (f field) String() string { return fieldWords[f] }

// A method is a request method, as a small number.
type method uint8

// methods are those of the IANA registry and of caches. The first entry is for
// requests without a method, and for words that are not like one.
var methods = []string{"OTHER", "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE",
	"PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "PURGE", "BAN",
	"REFRESH", "QUERY", "LINK", "UNLINK", "PRI", "ACL", "BIND", "CHECKIN", "CHECKOUT", "LABEL", "MERGE",
	"MKACTIVITY", "MKCALENDAR", "MKWORKSPACE", "ORDERPATCH", "REBIND", "UNBIND", "UNCHECKOUT", "UPDATE",
	"UPDATEREDIRECTREF", "VERSION-CONTROL", "BASELINE-CONTROL", "MKREDIRECTREF", "RPC_IN_DATA", "RPC_OUT_DATA", "TRACK",
	"DEBUG", "SUBSCRIBE", "UNSUBSCRIBE", "NOTIFY", "POLL", "M-SEARCH", "DESCRIBE", "SETUP", "PLAY", "TEARDOWN", "SOURCE"}

func (m method) String() string { return methods[m] }

// setMethod sets the method; an unknown one is kept as text.
func (r *record) setMethod(b []byte) {
	if r.method = methodOf(b); r.method == 0 {
		r.verb = b
	}
}

// maxVerb is the longest unknown method that makes a route of its own.
const maxVerb = 20

// hasOtherVerb reports whether the method is a word that is not in methods.
// Words with other bytes than letters, digits, dashes and underscores are not
// methods.
func (r *record) hasOtherVerb() bool {
	if r.method != 0 || len(r.verb) == 0 || len(r.verb) > maxVerb {
		return false
	}
	mask := maskOf(r.verb)
	return mask&^(cLetter|cDigit|cJoin) == 0 && mask&cLetter != 0 && bytes.IndexByte(r.verb, '/') < 0
}

// methodText is the text of the method.
func (r *record) methodText() []byte {
	if r.hasOtherVerb() {
		return r.verb
	}
	return methodBytes[r.method]
}

// methodOf returns the number of a method; 0 for an unknown word.
func methodOf(b []byte) method {
	switch len(b) {
	case 3:
		switch {
		case b[0] == 'G' && b[1] == 'E' && b[2] == 'T':
			return 1
		case b[0] == 'P' && b[1] == 'U' && b[2] == 'T':
			return 3
		}
	case 4:
		if string(b) == "POST" {
			return 2
		}
	}
	for i, m := range methods[1:] {
		if string(b) == m {
			return method(i + 1)
		}
	}
	return 0
}

// setRequest reads "METHOD URI PROTOCOL". Other text (a TLS handshake on a
// plain port, "-" for an empty request) leaves uri empty; such lines are
// counted too.
func (r *record) setRequest(b []byte) {
	sp := 3
	switch {
	case len(b) > 13 && string(b[:4]) == "GET ":
		r.method = 1
	case len(b) > 13 && string(b[:5]) == "POST ":
		r.method, sp = 2, 4
	default:
		if sp = bytes.IndexByte(b[:min(len(b), 24)], ' '); sp <= 0 {
			r.method, r.verb, r.uri = 0, nil, nil
			return
		}
		r.setMethod(b[:sp])
	}
	b = b[sp+1:]
	if n := len(b) - 9; n > 0 && string(b[n:n+8]) == " HTTP/1." {
		r.uri = b[:n]
		return
	}
	r.setOldRequest(b)
}

// setOldRequest reads the text behind the method if the protocol is HTTP/2.0,
// HTTP/3, or missing.
func (r *record) setOldRequest(b []byte) {
	n := bytes.LastIndexByte(b, ' ')
	switch {
	case n > 0 && (string(b[n+1:min(n+6, len(b))]) == "HTTP/" || r.method != 0):
		r.uri = b[:n]
	case n <= 0 && r.method != 0:
		r.uri = b // HTTP/0.9
	default: // neither a method nor a protocol
		r.method, r.verb, r.uri = 0, nil, nil
	}
}
