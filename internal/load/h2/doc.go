// Package h2 has the formats of HTTP/2 as a client needs them, without I/O: frames
// (RFC 9113, 4 and 6), header compression (HPACK, RFC 7541) and error codes. Package
// bench has the connections.
//
// golang.org/x/net/http2 is not used: it makes strings of every header field, and the
// load engine must not allocate for each request.
package h2
