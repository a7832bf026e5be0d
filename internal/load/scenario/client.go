package scenario

import (
	"context"
	"crypto/x509"
	"time"
)

// ClientOptions configure one browser.
type ClientOptions struct {
	// BaseURL is the base of all paths, with scheme http or https; empty means
	// Session.URL().
	BaseURL string
	// Host is the value of the Host header, for targets with several virtual hosts
	// at one address; empty means the host of BaseURL. Over TLS it is also the name
	// that the certificate must have.
	Host      string
	UserAgent string
	// Protocol is the version of HTTP that the client speaks; the zero value is
	// Negotiated.
	Protocol Protocol
	// MaxConns limits the browser's connections to the host; 0 means 6 over
	// HTTP/1.1 and 1 over HTTP/2, as in browsers.
	MaxConns int
	// Cache enables the private browser cache: max-age, Expires, no-store, Vary,
	// ETag and Last-Modified with conditional requests. Requests with an
	// Authorization header bypass it.
	Cache bool
	// Gzip sends Accept-Encoding: gzip and decodes gzip answers.
	Gzip bool
	// Timeout limits each request; 0 means Info.Timeout.
	Timeout time.Duration
	// MaxBody limits a decoded body in bytes; 0 means 16 MiB. A larger body is a fault.
	MaxBody int
	// InsecureTLS accepts any certificate of an https target.
	InsecureTLS bool
	// CA are the authorities whose certificates the client accepts; nil means those
	// of the run, or the machine's.
	CA *x509.CertPool
}

// A Client is one browser. Several goroutines may call Do and Open at once. Over
// HTTP/1.1 each call in flight uses its own connection, over HTTP/2 its own stream.
type Client interface {
	// Do sends one request and reads the complete answer. It does not follow
	// redirects. The error is nil or a *Fault of kind dial, timeout, closed,
	// protocol, body or cut; no status is an error. The caller must call
	// Response.Release after reading the answer.
	Do(ctx context.Context, r *Request) (*Response, error)
	// Open begins an exchange whose bodies are sent and read piece by piece: see
	// [Stream]. It needs HTTP/2, and a request without Body. It neither reads nor
	// writes the browser cache, and no content coding is asked for. The error is nil
	// or a *Fault, as that of Do. The caller must call Stream.Close.
	Open(ctx context.Context, r *Request) (Stream, error)
	// Cookie returns the value of a cookie that has not expired.
	Cookie(name string) (string, bool)
	// SetCookie sets a session cookie for path /. An empty value removes it.
	SetCookie(name, value string)
	// Forget drops all cookies and the browser cache.
	Forget()
	// Close closes the connections and cuts requests in flight. A closed Client
	// opens no connections. Close a Client that is not needed any more; the end
	// of the run closes all.
	Close()
}

// A Request is one request. It may be reused; Do keeps no reference to it.
type Request struct {
	Step   Step
	Method string // GET where empty
	Path   string // path with query, from the first "/", already escaped
	// Header holds further fields. The client sets Host, Content-Length,
	// Connection, Cookie, Accept-Encoding, User-Agent and Transfer-Encoding itself.
	Header []Field
	// ContentType is the type of Body; empty sends no Content-Type.
	ContentType string
	Body        []byte
	// Timeout limits the exchange; 0 means the client's, NoTimeout the end of the phase.
	Timeout time.Duration
	// Due is the scheduled time of the request. Latency counts from Due, or from
	// the start of sending if Due is zero.
	Due time.Time
	// NoStore neither reads nor writes the browser cache.
	NoStore bool
	// Quiet requests count in their step, but their errors do not (for requests
	// whose outcome the rules ignore).
	Quiet bool
}

// A Field is one header field.
type Field struct{ Name, Value string }

// A Response is one complete answer. It and its slices are valid until Release
// and must not be modified: browsers share cached bodies.
type Response struct {
	Step   Step
	Method string
	Path   string
	// Status is the received status; 200 for a cached answer, also after a 304
	// (see NotModified).
	Status int
	// Body is the decoded body (chunks, gzip) or the cached body.
	Body []byte
	// NotModified is set when the target answered 304; Body is the cached body.
	NotModified bool
	// Cached is set when a fresh cache entry answered and no request was sent.
	Cached bool
	// Wire is the size of the answer on the wire, headers included.
	Wire int64
	Took time.Duration

	// Protocol is the version of HTTP in which the answer came. It is Negotiated for
	// a cached answer.
	Protocol Protocol
	// Fields holds the header fields of the received or cached answer in order,
	// names in lower case.
	Fields []HeaderField
	// Trailers holds the fields after the body, over HTTP/2 only: a client of HTTP/1.1
	// reads them and drops them.
	Trailers []HeaderField
	// Done is called by Release; the engine sets it.
	Done func(*Response)
}

// A HeaderField is one header field of an answer, its name in lower case. Both
// are slices of the connection's buffer.
type HeaderField struct{ Name, Value []byte }

// Get returns the first value of a header field, "" if there is none. name must
// be in lower case.
func (r *Response) Get(name string) string {
	v, _ := find(r.Fields, name)
	return string(v)
}

// Trailer returns the first value of a field after the body. ok is false if there
// is none. name must be in lower case. The value is valid until Release.
func (r *Response) Trailer(name string) (value []byte, ok bool) { return find(r.Trailers, name) }

func find(fields []HeaderField, name string) (value []byte, ok bool) {
	for i := range fields {
		if string(fields[i].Name) == name {
			return fields[i].Value, true
		}
	}
	return nil, false
}

// Release returns the answer's buffers. The Response must not be used afterwards.
// Release may be called on nil.
func (r *Response) Release() {
	if r != nil && r.Done != nil {
		r.Done(r)
	}
}
