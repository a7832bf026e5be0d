package otlp

import (
	"cmp"
	"strings"
	"time"
)

// A Span is one span, with the attributes that are shown.
type Span struct {
	Trace, ID, Parent string // in hex; Parent is "" for the first span of a trace
	Name              string
	Service           string
	Server            bool // it is the handling of a request
	From, To          time.Time
	Failed            bool

	Method, Route string // of a request: Route is the pattern, or the path
	Status        int64
	System        string // of a database: mysql, redis …
	Statement     string
}

// Took is the duration of the span; a span that ends before it begins has none.
func (s *Span) Took() time.Duration { return max(s.To.Sub(s.From), 0) }

// Limits of one span.
const (
	maxText      = 2_000
	maxSpanAttrs = 256
)

// attribute takes one attribute. Both the stable names of the semantic conventions
// and the older ones are read.
func (s *Span) attribute(key, text string, number int64) {
	text = clip(text)
	switch key {
	case "http.request.method", "http.method":
		s.Method = text
	case "http.route":
		s.Route = text
	case "url.path", "http.target":
		path, _, _ := strings.Cut(text, "?") // values of the query may be secrets
		s.Route = cmp.Or(s.Route, path)
	case "http.response.status_code", "http.status_code":
		s.Status = number
	case "db.system.name", "db.system":
		s.System = text
	case "db.query.text", "db.statement":
		s.Statement = text
	}
}

// clip bounds a text.
func clip(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// route is the name of the route of a server span, as in "GET /users/:id".
func (s *Span) route() string {
	if s.Route == "" {
		return s.Name
	}
	return strings.TrimSpace(s.Method + " " + s.Route)
}

// Shape makes names of one route alike: identifiers as in "{id}", "<id>", "[id]"
// and ":id" become ":".
func Shape(route string) string {
	method, path, ok := strings.Cut(route, " ")
	if !ok {
		method, path = "", route
	}
	path, _, _ = strings.Cut(path, " ") // as in "GET /a (second page)"
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if p == "" {
			continue
		}
		if p[0] == ':' || p[0] == '{' || p[0] == '<' || p[0] == '[' || p[0] == '*' {
			parts[i] = ":"
		}
	}
	return method + " " + strings.TrimSuffix(strings.Join(parts, "/"), "/")
}
