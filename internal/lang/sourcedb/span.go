package sourcedb

import (
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

// literal is a text that is in the source at a place, or made by this package.
func literal(s string, at Origin) value {
	at.Layer = -1
	return value{kind: texts, text: s, from: []span{{at, len(s)}}}
}

// spans are the origins of a text, which cover it.
func (v value) spans() []span {
	n := 0
	for _, s := range v.from {
		n += s.n
	}
	switch {
	case n == len(v.text) && len(v.from) <= maxFrom:
		return v.from
	case len(v.from) == 0:
		return []span{{Origin{Layer: -1}, len(v.text)}}
	case !slices.ContainsFunc(v.from, func(s span) bool { return s.Origin != v.from[0].Origin }): // a text that was changed
		return []span{{v.from[0].Origin, len(v.text)}}
	}
	return []span{{Origin{Layer: several}, len(v.text)}}
}

// slice is a part of a text.
func (v value) slice(i, j int) value {
	out := value{kind: texts, text: v.text[i:j], why: v.why}
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
func (v value) origins() []Origin {
	var out []Origin
	for _, s := range v.spans() {
		if (s.n > 0 || v.text == "") && !slices.Contains(out, s.Origin) {
			out = append(out, s.Origin)
		}
	}
	return out
}

// A cutter takes parts out of a text, from the left to the right.
type cutter struct {
	value
	at int
}

// part is the next part that reads so, perhaps escaped as in URLs.
func (c *cutter) part(s string) value {
	for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), strings.ReplaceAll(url.QueryEscape(s), "+", "%20")} {
		if i := strings.Index(c.text[c.at:], form); i >= 0 {
			v := c.slice(c.at+i, c.at+i+len(form))
			c.at += i + len(form)
			v.text = s
			v.from = v.spans()
			return v
		}
	}
	v := value{kind: texts, text: s, why: c.why}
	if all := c.origins(); len(all) == 1 {
		v.from = []span{{all[0], len(s)}}
	} else {
		v.from = []span{{Origin{Layer: several}, len(s)}}
	}
	return v
}

// address splits host:port.
func (v value) address() (host, port value) {
	h, p := hostPort(v.text)
	c := &cutter{value: v}
	return c.part(h), c.part(p)
}
