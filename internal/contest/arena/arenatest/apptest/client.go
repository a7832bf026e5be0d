package apptest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"
)

// A Client is one client of a test, with its own cookies.
type Client struct {
	t    *testing.T
	base string
	http *http.Client
}

// NewClient returns a client without cookies. It follows redirects.
func (s *Site) NewClient(t *testing.T) *Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Client{t, s.URL(), &http.Client{Jar: jar, Timeout: 2 * time.Minute}}
}

// An Edit changes a request before it is sent.
type Edit func(*http.Request)

// WithBody sets the body of a request.
func WithBody(kind, body string) Edit {
	return func(r *http.Request) {
		r.Header.Set("Content-Type", kind)
		r.Body = io.NopCloser(strings.NewReader(body))
		r.ContentLength = int64(len(body))
	}
}

// WithJSON sets the body of a request to a value. It panics if the value cannot
// be written as JSON.
func WithJSON(v any) Edit {
	body, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return WithBody("application/json", string(body))
}

// Send sends a request. A request without an answer ends the test.
func (c *Client) Send(method, path string, edits ...Edit) Answer {
	c.t.Helper()
	r, err := http.NewRequest(method, c.base+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range edits {
		e(r)
	}
	res, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return Answer{method + " " + path, res.StatusCode, res.Header, body}
}

// Get sends a GET request.
func (c *Client) Get(path string) Answer { c.t.Helper(); return c.Send(http.MethodGet, path) }

// An Answer is a received response.
type Answer struct {
	what   string
	Status int
	Header http.Header
	Body   []byte
}

// Want checks the status and, if text is not empty, a text/plain body.
func (a Answer) Want(t *testing.T, status int, text string) {
	t.Helper()
	if a.Status != status {
		t.Errorf("%s: status %d (%.100q), want %d", a.what, a.Status, a.Body, status)
		return
	}
	if text == "" {
		return
	}
	if kind := a.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
		t.Errorf("%s: content type %q, want text/plain", a.what, kind)
	}
	if string(a.Body) != text {
		t.Errorf("%s: body %q, want %q", a.what, a.Body, text)
	}
}

// WantEmpty checks the status of an answer without a body.
func (a Answer) WantEmpty(t *testing.T, status int) {
	t.Helper()
	a.Want(t, status, "")
	if len(a.Body) > 0 {
		t.Errorf("%s: body %.100q, want none", a.what, a.Body)
	}
}

// Decode checks the status and decodes JSON strictly: unknown fields are an error.
func (a Answer) Decode(t *testing.T, status int, v any) {
	t.Helper()
	a.Want(t, status, "")
	if kind := a.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		t.Errorf("%s: content type %q, want application/json", a.what, kind)
	}
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v in %.200q", a.what, err, a.Body)
	}
}
