package settings

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// A span is the origin of the next n bytes of a text.
type span struct {
	Origin
	n int
}

// several is the layer of a text whose bytes cannot be told apart by their origins.
const several = -2

// An Origin is where a text comes from.
type Origin struct {
	// Layer is the index of the environment that has the variable Name, -1 for a literal.
	Layer int
	Name  string
}

// Literal is a text that is in the source.
func Literal(s string) Value {
	return Value{Kind: Text, Text: s, from: []span{{Origin{Layer: -1}, len(s)}}}
}

// spans are the origins of a text, which cover it.
func (v Value) spans() []span {
	n := 0
	for _, s := range v.from {
		n += s.n
	}
	switch {
	case n == len(v.Text) && len(v.from) <= maxFrom:
		return v.from
	case len(v.from) == 0:
		return []span{{Origin{Layer: -1}, len(v.Text)}}
	case !slices.ContainsFunc(v.from, func(s span) bool { return s.Origin != v.from[0].Origin }): // a text that was changed
		return []span{{v.from[0].Origin, len(v.Text)}}
	}
	return []span{{Origin{Layer: several}, len(v.Text)}}
}

// slice is a part of a text.
func (v Value) slice(i, j int) Value {
	out := Value{Kind: Text, Text: v.Text[i:j], Why: v.Why}
	at := 0
	for _, s := range v.spans() {
		if n := min(j, at+s.n) - max(i, at); n > 0 {
			out.from = append(out.from, span{s.Origin, n})
		}
		at += s.n
	}
	return out
}

// origins are the different places of a text.
func (v Value) origins() []Origin {
	var out []Origin
	for _, s := range v.spans() {
		if (s.n > 0 || v.Text == "") && !slices.Contains(out, s.Origin) {
			out = append(out, s.Origin)
		}
	}
	return out
}

// A cutter takes parts out of a text, from the left to the right.
type cutter struct {
	Value
	at int
}

// part is the next part that reads so, perhaps escaped as in URLs.
func (c *cutter) part(s string) Value {
	for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), strings.ReplaceAll(url.QueryEscape(s), "+", "%20")} {
		if i := strings.Index(c.Text[c.at:], form); i >= 0 {
			v := c.slice(c.at+i, c.at+i+len(form))
			c.at += i + len(form)
			v.Text = s
			v.from = v.spans()
			return v
		}
	}
	v := Value{Kind: Text, Text: s, Why: c.Why}
	if all := c.origins(); len(all) == 1 {
		v.from = []span{{all[0], len(s)}}
	} else {
		v.from = []span{{Origin{Layer: several}, len(s)}}
	}
	return v
}

// HostPort splits an address into host and port. Without a port, port is "".
func (v Value) HostPort() (host, port Value) {
	h, p, err := net.SplitHostPort(v.Text)
	if err != nil {
		h, p = strings.Trim(v.Text, "[]"), ""
	}
	c := &cutter{Value: v}
	return c.part(h), c.part(p)
}
