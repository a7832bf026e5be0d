package answers

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A Norm is what the two answers of one build to the same requests have in common.
type Norm struct {
	// AnyOrder: the elements of a JSON list may come in another order.
	AnyOrder bool

	requests      []Request
	first, second []*Answer
	routes        map[string]*changing
}

// changing is what differed between two answers of one build, by route.
type changing struct {
	headers map[string]bool // names
	paths   map[string]bool // of JSON values, as in .list[].at
	words   map[string]bool // by the text ahead of them
	status  bool
	opaque  bool // a body that is neither JSON nor text of the same length in words
}

// Learn compares two rounds of answers of one build. Requests without an answer in
// one of them are not compared.
func Learn(requests []Request, first, second []*Answer, anyOrder bool) *Norm {
	n := &Norm{AnyOrder: anyOrder, requests: requests, first: first, second: second, routes: map[string]*changing{}}
	for i, r := range requests {
		c := n.routes[r.Route]
		if c == nil {
			c = &changing{headers: map[string]bool{}, paths: map[string]bool{}, words: map[string]bool{}}
			n.routes[r.Route] = c
		}
		if n.Compared(i) {
			c.learn(first[i], second[i], anyOrder)
		}
	}
	return n
}

// Compared reports whether the build answered a request twice.
func (n *Norm) Compared(i int) bool {
	return n.first[i] != nil && n.second[i] != nil && n.first[i].Err == nil && n.second[i].Err == nil
}

func (c *changing) learn(a, b *Answer, anyOrder bool) {
	if a.Status != b.Status {
		c.status, c.opaque = true, true
		return
	}
	for _, name := range headerNames(a, b) {
		if !slices.Equal(a.Header[name], b.Header[name]) {
			c.headers[name] = true
		}
	}
	if a.Sum == b.Sum {
		return
	}
	if x, y, ok := trees(a, b); ok {
		for _, path := range differing("", x, y, nil, anyOrder) {
			c.paths[path] = true
		}
		return
	}
	x, y := wordsOf(a), wordsOf(b)
	if len(x) != len(y) || x == nil {
		c.opaque = true
		return
	}
	for i := range x {
		if x[i] != y[i] {
			c.words[ahead(x, i)] = true
		}
	}
}

// Difference is why an answer of another build is not the same; "" if it is. A
// request that the first build did not answer twice has no difference.
func (n *Norm) Difference(i int, got *Answer) string {
	if !n.Compared(i) || got == nil {
		return ""
	}
	want, c := n.first[i], n.routes[n.requests[i].Route]
	if got.Err != nil {
		return "there is no answer: " + got.Err.Error()
	}
	if want.Status != got.Status && !c.status {
		return fmt.Sprintf("the status is %d instead of %d", got.Status, want.Status)
	}
	for _, name := range headerNames(want, got) {
		if !c.headers[name] && !slices.Equal(want.Header[name], got.Header[name]) {
			return fmt.Sprintf("the header %s is %q instead of %q", name, got.Header[name], want.Header[name])
		}
	}
	if want.Sum == got.Sum || c.opaque {
		return ""
	}
	return c.body(want, got, n.AnyOrder)
}

// body is the first difference of two bodies.
func (c *changing) body(want, got *Answer, anyOrder bool) string {
	if x, y, ok := trees(want, got); ok {
		if paths := differing("", x, y, c.paths, anyOrder); len(paths) > 0 {
			return "the body differs at " + show(paths[0])
		}
		return ""
	}
	x, y := wordsOf(want), wordsOf(got)
	if x == nil || len(x) != len(y) {
		return fmt.Sprintf("the body has %d bytes instead of %d, or others", got.Size, want.Size)
	}
	for i := range x {
		if x[i] != y[i] && !c.words[ahead(x, i)] {
			return fmt.Sprintf("the body has %q instead of %q", y[i], x[i])
		}
	}
	return ""
}

func show(path string) string {
	if path == "" {
		return "its root"
	}
	return path
}

// perConnection are headers that do not belong to the answer.
var perConnection = []string{"Date", "Connection", "Keep-Alive", "Content-Length", "Transfer-Encoding"}

// headerNames are the names of the headers of two answers that are compared.
func headerNames(a, b *Answer) []string {
	var out []string
	for _, h := range []http.Header{a.Header, b.Header} {
		for name := range h {
			if !slices.Contains(perConnection, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
