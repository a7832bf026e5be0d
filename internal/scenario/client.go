package scenario

import (
	"context"
	"time"
)

// ClientOptions configure one browser.
type ClientOptions struct {
	// BaseURL is where paths go; empty means Session.URL(). Scheme http or https.
	BaseURL   string
	UserAgent string
	// MaxConns is the number of connections the browser opens to the host at
	// most; 0 means 6, as browsers do over HTTP/1.1.
	MaxConns int
	// Cache turns the private browser cache on: max-age, Expires, no-store,
	// Vary, ETag and Last-Modified with conditional requests. Requests with an
	// Authorization header are never cached.
	Cache bool
	// Gzip announces and decodes gzip.
	Gzip bool
	// Timeout per request; 0 means Info.Timeout.
	Timeout time.Duration
	// MaxBody limits a decoded body in bytes; 0 means 16 MiB. More is a fault.
	MaxBody int
	// InsecureTLS accepts any certificate of an https target.
	InsecureTLS bool
}

// A Client is one browser. Do may be called from several goroutines at once;
// each call in flight uses a connection of its own.
type Client interface {
	// Do sends one request and reads the whole answer. Redirects are not
	// followed. The error is nil or a *Fault of kind dial, timeout, closed,
	// protocol, body or cut; a status is never an error here. The caller calls
	// Response.Release when it has read the answer.
	Do(ctx context.Context, r *Request) (*Response, error)
	// Cookie returns the value of a live cookie.
	Cookie(name string) (string, bool)
	// SetCookie sets a session cookie for the whole site; an empty value removes it.
	SetCookie(name, value string)
	// Forget drops all cookies and the browser cache, as a new profile would be.
	Forget()
	// Close ends the connections and cuts what is in flight. A closed Client
	// dials no more. One that is no longer needed should be closed; all are at
	// the end of the run.
	Close()
}

// A Request is one request. It may be used again; Do keeps nothing of it.
type Request struct {
	Step   Step
	Method string // GET where empty
	Path   string // path with query, from the first "/", already escaped
	// Header are further fields; Host, Content-Length, Connection, Cookie,
	// Accept-Encoding and User-Agent are the client's.
	Header []Field
	// ContentType of Body; no Content-Type is sent where empty.
	ContentType string
	Body        []byte
	Timeout     time.Duration // 0 means the client's
	// Due is the time at which a scheduled request should have been sent; its
	// latency counts from there. Zero means from the start of sending.
	Due time.Time
	// NoStore bypasses the browser cache both ways.
	NoStore bool
	// Quiet requests count in their step but an error of theirs is no error of
	// the step (for requests whose outcome is ignored by rule).
	Quiet bool
}

// A Field is one header field.
type Field struct{ Name, Value string }

// A Response is one whole answer. It and its slices are valid until Release,
// and must not be changed: a cached body is shared.
type Response struct {
	Step   Step
	Method string
	Path   string
	// Status is as received, but 200 for what came from the cache, also after
	// a 304 (see NotModified).
	Status int
	// Body is decoded (chunks, gzip); for cached answers the cached body.
	Body []byte
	// NotModified: the target answered 304 and Body is the cached one.
	NotModified bool
	// Cached: nothing was sent, the private cache was still fresh.
	Cached bool
	// Wire is the size of the answer on the wire, headers included.
	Wire int64
	Took time.Duration

	// Fields holds the header fields in order of arrival, names in lower case.
	// For cached answers: of the cached one.
	Fields []HeaderField
	// Done is called by Release; the engine sets it.
	Done func(*Response)
}

// A HeaderField is one header field of an answer, name in lower case, as
// slices of the connection's buffer.
type HeaderField struct{ Name, Value []byte }

// Get returns the first value of a header field, "" when there is none. name
// must be in lower case.
func (r *Response) Get(name string) string {
	for i := range r.Fields {
		if string(r.Fields[i].Name) == name {
			return string(r.Fields[i].Value)
		}
	}
	return ""
}

// Release gives the answer's buffers back. The Response must not be used
// afterwards. It may be called on nil.
func (r *Response) Release() {
	if r != nil && r.Done != nil {
		r.Done(r)
	}
}
