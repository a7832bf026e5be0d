package pagegen

import (
	"hash/fnv"
	"net/http"
	"strings"
)

// Handler runs around the handlers of an app. It must see every request of the app.
func (s *Store) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			s.read(w, r, next)
		case http.MethodHead, http.MethodOptions, http.MethodTrace:
			next.ServeHTTP(w, r)
		default:
			s.write(w, r, next)
		}
	})
}

// write has a request answered that may write. Pages are dropped after the handler has
// returned, with all that it deferred, and before the answer is sent. They are dropped
// also if the handler panics: it may have written.
func (s *Store) write(w http.ResponseWriter, r *http.Request, next http.Handler) {
	method, path := r.Method, strings.Clone(r.URL.Path) // a handler may change the request
	s.seen.begin()
	h := &held{ResponseWriter: w, drop: func() error { return s.written(method, path) }}
	returned := false
	defer func() {
		if !returned {
			_ = h.drop() // the panic goes on
		}
		s.seen.end(method, path)
	}()
	next.ServeHTTP(h, r)
	returned = true
	h.finish()
}

// read has a page computed, and notes what it was.
func (s *Store) read(w http.ResponseWriter, r *http.Request, next http.Handler) {
	route, values := s.plan.routeOf(r.URL.Path)
	if route == "" || r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" {
		next.ServeHTTP(w, r)
		return
	}
	p := page{url: urlOf(r), path: strings.Clone(r.URL.Path), route: route, values: values}
	from := s.seen.now()
	d := &digested{ResponseWriter: w, hash: fnv.New64a()}
	next.ServeHTTP(d, r)
	if d.status != http.StatusOK {
		return // an error; a framework may send it later
	}
	p.digest = d.hash.Sum64()
	if stale := s.seen.read(p, from); stale != nil {
		s.distrust(stale)
	}
	s.report()
}

// urlOf distinguishes pages: the URL and the headers by which apps choose an answer.
func urlOf(r *http.Request) string {
	parts := []string{r.Host, r.URL.RequestURI()}
	for _, name := range []string{"Accept", "Accept-Encoding", "Accept-Language", "Origin"} {
		parts = append(parts, r.Header.Get(name))
	}
	return strings.Join(parts, "\x00")
}

// digested is an answer whose digest is computed.
type digested struct {
	http.ResponseWriter
	hash interface {
		Write([]byte) (int, error)
		Sum64() uint64
	}
	status int
}

// WriteHeader implements http.ResponseWriter.
func (d *digested) WriteHeader(status int) {
	if d.status == 0 {
		d.status = status
	}
	d.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (d *digested) Write(b []byte) (int, error) {
	if d.status == 0 {
		d.status = http.StatusOK
	}
	_, _ = d.hash.Write(b)
	return d.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (d *digested) Flush() { _ = http.NewResponseController(d.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (d *digested) Unwrap() http.ResponseWriter { return d.ResponseWriter }
